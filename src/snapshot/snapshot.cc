#include "snapshot/snapshot.h"

#include <utility>

namespace kepler::snapshot {

std::string_view ToString(Level level) {
  switch (level) {
    case Level::kProcess:
      return "process";
    case Level::kContainer:
      return "container";
    case Level::kVm:
      return "vm";
    case Level::kPod:
      return "pod";
  }
  std::unreachable();
}

std::string_view ToString(State state) { return state == State::kRunning ? "running" : "terminated"; }

std::string_view ToString(Unlisted reason) {
  switch (reason) {
    case Unlisted::kDeparted:
      return "departed";
    case Unlisted::kCapped:
      return "capped";
    case Unlisted::kUnseen:
      return "unseen";
    case Unlisted::kOutside:
      return "outside";
  }
  std::unreachable();
}

std::string_view ToString(Method method) {
  switch (method) {
    case Method::kCpuTime:
      return "cpu-time";
    case Method::kCycles:
      return "cycles";
    case Method::kCyclesInstructionsMix:
      return "cycles-instructions-mix";
    case Method::kCacheMisses:
      return "cache-misses";
  }
  std::unreachable();
}

std::string_view ToString(RatioMethod method) { return method == RatioMethod::kExact ? "exact" : "proc-stat"; }

struct Pool::Shared {
  std::mutex mutex;
  size_t most = 0;
  size_t handed_out = 0;
  std::vector<std::unique_ptr<Snapshot>> free;
};

Pool::Pool(size_t most) : shared_(std::make_shared<Shared>()) { shared_->most = most; }

std::shared_ptr<Snapshot> Pool::Acquire() {
  std::unique_ptr<Snapshot> next;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->handed_out == shared_->most) return nullptr;
    ++shared_->handed_out;
    if (!shared_->free.empty()) {
      next = std::move(shared_->free.back());
      shared_->free.pop_back();
    }
  }
  if (!next) next = std::make_unique<Snapshot>();
  return {next.release(), [shared = shared_](Snapshot* returned) {
            std::unique_ptr<Snapshot> owned(returned);
            const std::scoped_lock lock(shared->mutex);
            --shared->handed_out;
            shared->free.push_back(std::move(owned));
          }};
}

void Board::Publish(std::shared_ptr<const Snapshot> next) {
  const std::scoped_lock lock(mutex_);
  latest_.swap(next);
}  // `next`, now the former snapshot, outlives the lock: parameters die after locals

std::shared_ptr<const Snapshot> Board::Latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

}  // namespace kepler::snapshot
