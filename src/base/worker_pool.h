#pragma once
// A bounded queue of jobs and the threads that run them. First in, first out.
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread.h"

namespace kepler {

/// Owned by one thread. Add() and Close() may be called from any thread.
class WorkerPool {
 public:
  /// The token is stopped by EndBy(). The job must own or share all that it uses, unless EndBy() waits for it.
  using Job = std::move_only_function<void(const std::stop_token&)>;
  struct Options {
    std::string name;  // of the threads
    size_t threads = 1;
    size_t max_queued = 1;  // jobs that wait for a thread
  };

  explicit WorkerPool(Options options);
  /// Gives threads that wait the time to end.
  ~WorkerPool() { EndBy(std::chrono::steady_clock::now() + kFarewell); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Starts the threads that are missing. Without Start() there are none, and jobs wait.
  [[nodiscard]] Status Start();
  /// Returns false if the queue is full or closed. Then the job is destroyed without a run.
  [[nodiscard]] bool Add(Job job);
  /// Destroys the jobs that wait, and refuses others from now on. Running jobs go on.
  void Close();
  /// Closes, stops the token and joins the threads whose job ends by `deadline`. The others are left behind.
  void EndBy(std::chrono::steady_clock::time_point deadline);

 private:
  static constexpr std::chrono::milliseconds kFarewell{50};

  struct Shared;
  static void Work(Shared& shared, const std::stop_token& stop);

  const std::shared_ptr<Shared> shared_;  // with the threads, which may outlive this
  const Options options_;
  std::vector<BlockingThread> threads_;
};

}  // namespace kepler
