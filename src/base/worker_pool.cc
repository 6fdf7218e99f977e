#include "base/worker_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace kepler {

struct WorkerPool::Shared {
  std::mutex mutex;  // guards what follows
  std::condition_variable_any wake;
  std::deque<Job> queue;
  bool closed = false;
};

WorkerPool::WorkerPool(Options options) : shared_(std::make_shared<Shared>()), options_(std::move(options)) {}

Status WorkerPool::Start() {
  while (threads_.size() < options_.threads) {
    KEPLER_TRY(auto thread,
               BlockingThread::Start(options_.name, [s = shared_](const std::stop_token& stop) { Work(*s, stop); }));
    threads_.push_back(std::move(thread));
  }
  return {};
}

bool WorkerPool::Add(Job job) {
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->closed || shared_->queue.size() >= options_.max_queued) return false;
    shared_->queue.push_back(std::move(job));
  }
  shared_->wake.notify_one();
  return true;
}

void WorkerPool::Close() {
  std::deque<Job> dropped;  // declared before the lock: jobs are destroyed without it
  const std::scoped_lock lock(shared_->mutex);
  shared_->closed = true;
  dropped.swap(shared_->queue);
}

void WorkerPool::EndBy(std::chrono::steady_clock::time_point deadline) {
  Close();
  for (auto& thread : threads_) thread.RequestStop();
  for (auto& thread : threads_) thread.EndBy(deadline);
  threads_.clear();
}

void WorkerPool::Work(Shared& shared, const std::stop_token& stop) {
  while (true) {
    Job job;
    {
      std::unique_lock lock(shared.mutex);
      if (!shared.wake.wait(lock, stop, [&] { return !shared.queue.empty(); }) || stop.stop_requested()) return;
      job = std::move(shared.queue.front());
      shared.queue.pop_front();
    }
    job(stop);
  }
}

}  // namespace kepler
