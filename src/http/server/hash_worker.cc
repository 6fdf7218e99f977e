#include "http/server/hash_worker.h"

#include <openssl/crypto.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace kepler::http {

struct HashWorker::Shared {
  Matches matches;
  Done done;
  std::mutex mutex;  // guards what follows
  std::condition_variable wake;
  EventLoop* loop;  // null: nobody waits for anything any more
  LoginQueue queue;
  HashBudget budget;
};

HashWorker::HashWorker(EventLoop& loop, Matches matches, Done done) : shared_(std::make_shared<Shared>()) {
  shared_->matches = std::move(matches);
  shared_->done = std::move(done);
  shared_->loop = &loop;
}

HashWorker::~HashWorker() {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->loop = nullptr;
  }
  shared_->wake.notify_all();
  constexpr std::chrono::milliseconds kTurn{50};  // of a thread that hashes nothing
  if (thread_) thread_->EndBy(std::chrono::steady_clock::now() + kTurn);
}

Status HashWorker::Start() {
  if (thread_) return {};
  KEPLER_TRY(auto thread,
             BlockingThread::Start("passwords", [shared = shared_](const std::stop_token&) { Work(*shared); }));
  thread_.emplace(std::move(thread));
  return {};
}

LoginQueue::Added HashWorker::Add(LoginJob job) {
  LoginQueue::Added added;
  {
    const std::scoped_lock lock(shared_->mutex);
    added = shared_->queue.Add(std::move(job));
  }
  if (added.queued) shared_->wake.notify_all();
  return added;
}

std::deque<LoginJob> HashWorker::TakeAllOf(const ClientAddress& client) {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->queue.TakeAllOf(client);
}

void HashWorker::Work(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (true) {
    const auto ended = [&] { return shared.loop == nullptr; };
    shared.wake.wait(lock, [&] { return ended() || !shared.queue.empty(); });
    shared.wake.wait_until(lock, shared.budget.Next(), ended);
    if (ended()) return;
    auto job = shared.queue.Take();
    if (!job) continue;  // taken back meanwhile
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    const bool matches = shared.matches(job->password, job->hash) && job->known_user;
    OPENSSL_cleanse(job->password.data(), job->password.size());
    job->password.clear();
    const auto end = std::chrono::steady_clock::now();
    lock.lock();
    if (!matches) {
      shared.budget.Wasted(end - begin, end);
      shared.queue.MarkFailed(job->client);
    }
    if (ended()) return;
    shared.loop->Post([done = &shared.done, job = *std::move(job), matches] { (*done)(job, matches); });
  }
}

}  // namespace kepler::http
