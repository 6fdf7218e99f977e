#include "base/thread.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <condition_variable>
#include <csignal>
#include <list>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace kepler {
namespace {

/// Blocks asynchronous signals until the end of the scope. Threads started meanwhile inherit the mask.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

std::unexpected<Error> FailThread(std::string_view name, int err) {
  return Fail(ErrorKind::kUnavailable,
              fmt::format("start thread {}: {}; raise the limit of threads (TasksMax= of the unit, pids.max of the "
                          "cgroup, ulimit -u) or of memory",
                          name, std::generic_category().message(err)));
}

/// Never destroyed, because its threads may still run when the process exits.
struct LeftBehind {
  std::mutex mutex;
  std::list<BlockingThread> threads;
};
LeftBehind& AllLeftBehind() {
  static auto* const kAll = new LeftBehind;
  return *kAll;
}

}  // namespace

struct BlockingThread::End {
  std::mutex mutex;
  std::condition_variable changed;
  bool has_come = false;

  void Come() {
    {
      const std::scoped_lock lock(mutex);
      has_come = true;
    }
    changed.notify_all();
  }
  bool WaitUntil(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex);
    return changed.wait_until(lock, deadline, [this] { return has_come; });
  }
};

Result<std::jthread> StartThread(std::string_view name, ThreadWork work) {
  const BlockedSignals blocked;
  try {
    return std::jthread([called = std::string(name), work = std::move(work)](const std::stop_token& stop) mutable {
      prctl(PR_SET_NAME, called.c_str());
      work(stop);
    });
  } catch (const std::system_error& error) {
    return FailThread(name, error.code().value());
  } catch (const std::bad_alloc&) {
    return FailThread(name, ENOMEM);
  }
}

Result<BlockingThread> BlockingThread::Start(std::string_view name, ThreadWork work) {
  auto end = std::make_shared<End>();
  KEPLER_TRY(auto thread, StartThread(name, [end, work = std::move(work)](const std::stop_token& stop) mutable {
               work(stop);
               work = nullptr;  // destroys what it owns before the end is visible
               end->Come();
             }));
  return BlockingThread(std::move(thread), std::move(end));
}

void BlockingThread::EndBy(std::chrono::steady_clock::time_point deadline) {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  if (end_->WaitUntil(deadline)) return thread_.join();
  LeftBehind& all = AllLeftBehind();
  const std::scoped_lock lock(all.mutex);
  all.threads.push_back(std::move(*this));
}

bool BlockingThread::HasEnded() const { return end_->WaitUntil(std::chrono::steady_clock::now()); }

size_t ThreadsLeftBehind() {
  LeftBehind& all = AllLeftBehind();
  const std::scoped_lock lock(all.mutex);
  // Joins those that have ended.
  std::erase_if(all.threads, [](const BlockingThread& thread) { return thread.HasEnded(); });
  return all.threads.size();
}

}  // namespace kepler
