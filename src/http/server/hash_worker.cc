#include "http/server/hash_worker.h"

#include <openssl/crypto.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace kepler::http::server {

struct HashWorker::Shared {
  Matches matches;
  Done done;
  CpuTime cpu_time;
  std::mutex mutex;                  // guards all members below
  std::condition_variable_any wake;  // by the stop token only
  EventLoop* loop;                   // null: results are no longer needed
  LoginQueue queue;
  HashBudget budget;
};

HashWorker::HashWorker(EventLoop& loop, Matches matches, Done done, CpuTime cpu_time)
    : shared_(std::make_shared<Shared>()),
      // A surplus job finds no login. If no further job fits, there is already one job for each login.
      pool_({.name = "passwords", .threads = 1, .max_queued = LoginQueue::kMax}) {
  shared_->matches = std::move(matches);
  shared_->done = std::move(done);
  shared_->cpu_time = std::move(cpu_time);
  shared_->loop = &loop;
}

HashWorker::~HashWorker() {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->loop = nullptr;
  }
  constexpr std::chrono::milliseconds kTurn{50};  // maximum wait for a thread that is not hashing
  pool_.EndBy(std::chrono::steady_clock::now() + kTurn);
}

LoginQueue::Added HashWorker::Add(LoginJob job) {
  LoginQueue::Added added;
  {
    const std::scoped_lock lock(shared_->mutex);
    added = shared_->queue.Add(std::move(job));
  }
  if (added.queued)
    static_cast<void>(pool_.Add([shared = shared_](const std::stop_token& stop) { HashNext(*shared, stop); }));
  return added;
}

std::deque<LoginJob> HashWorker::TakeAllOf(const ClientAddress& client) {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->queue.TakeAllOf(client);
}

HashBudget::SteadyTime HashWorker::Next() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->budget.Next();
}

void HashWorker::HashNext(Shared& shared, const std::stop_token& stop) {
  std::unique_lock lock(shared.mutex);
  if (shared.queue.empty()) return;  // taken back
  shared.wake.wait_until(lock, stop, shared.budget.Next(), [] { return false; });
  auto job = shared.queue.Take();
  if (!job || shared.loop == nullptr) return;
  lock.unlock();
  const auto begin = shared.cpu_time();
  const bool matches = shared.matches(job->password, job->hash) && job->known_user;
  OPENSSL_cleanse(job->password.data(), job->password.size());
  job->password.clear();
  const auto used = shared.cpu_time() - begin;
  lock.lock();
  if (!matches) {
    shared.budget.Wasted(used, std::chrono::steady_clock::now());
    shared.queue.MarkFailed(job->client);
  }
  if (shared.loop == nullptr) return;
  shared.loop->Post([done = &shared.done, job = *std::move(job), matches] { (*done)(job, matches); });
}

}  // namespace kepler::http::server
