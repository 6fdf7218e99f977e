#pragma once
// The thread that hashes passwords. A hash cannot be interrupted, so the thread is left behind in one (base/thread.h).
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/worker_pool.h"
#include "http/server/event_loop.h"
#include "http/server/login_queue.h"

namespace kepler::http::server {

class HashWorker {
 public:
  using Matches = std::function<bool(const std::string& password, const std::string& hash)>;
  using Done = std::function<void(const LoginJob& job, bool matches)>;  // on the loop's thread, without the password

  HashWorker(EventLoop& loop, Matches matches, Done done);
  /// After the loop has stopped. A hash in progress goes on without anybody to tell.
  ~HashWorker();
  HashWorker(const HashWorker&) = delete;
  HashWorker& operator=(const HashWorker&) = delete;

  /// Makes the thread if there is none yet.
  [[nodiscard]] Status Start() { return pool_.Start(); }
  /// As LoginQueue::Add(). The job waits until Start() has made the thread.
  [[nodiscard]] LoginQueue::Added Add(LoginJob job);
  /// What waits of one client, which is then not hashed.
  [[nodiscard]] std::deque<LoginJob> TakeAllOf(const ClientAddress& client);

 private:
  struct Shared;
  static void HashNext(Shared& shared, const std::stop_token& stop);

  const std::shared_ptr<Shared> shared_;  // with the jobs of the thread, which may outlive this
  WorkerPool pool_;                       // at least as many jobs as logins wait; each takes one login, if any is left
};

}  // namespace kepler::http::server
