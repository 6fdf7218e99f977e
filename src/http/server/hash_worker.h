#pragma once
// The thread that hashes passwords. At the end of the server, a running hash is left behind (base/thread.h).
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "http/server/event_loop.h"
#include "http/server/login_queue.h"

namespace kepler::http::server {

class HashWorker {
 public:
  using Matches = std::function<bool(const std::string& password, const std::string& hash)>;
  using Done = std::function<void(const LoginJob& job, bool matches)>;  // on the loop's thread, without the password
  using CpuTime = std::function<std::chrono::nanoseconds()>;            // of the calling thread

  HashWorker(EventLoop& loop, Matches matches, Done done, CpuTime cpu_time = ThreadCpuTime);
  /// Call after the loop has stopped. A hash in progress continues, and its result is not reported.
  ~HashWorker();
  HashWorker(const HashWorker&) = delete;
  HashWorker& operator=(const HashWorker&) = delete;

  /// Starts the thread if it does not run yet.
  [[nodiscard]] Status Start() { return pool_.Start(); }
  /// As LoginQueue::Add(). The job waits until Start() has started the thread.
  [[nodiscard]] LoginQueue::Added Add(LoginJob job);
  /// Removes and returns the waiting jobs of one client. Their passwords are not hashed.
  [[nodiscard]] std::deque<LoginJob> TakeAllOf(const ClientAddress& client);
  /// Time at which the next hash may begin, as HashBudget::Next().
  [[nodiscard]] HashBudget::SteadyTime Next() const;

 private:
  struct Shared;
  static void HashNext(Shared& shared, const std::stop_token& stop);

  const std::shared_ptr<Shared> shared_;  // shared with the jobs of the thread, which may outlive this object
  WorkerPool pool_;                       // has at least one job per waiting login; each job takes one login, if any
};

}  // namespace kepler::http::server
