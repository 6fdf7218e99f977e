#include "snapshot/snapshot.h"

#include <utility>

namespace kepler::snapshot {

namespace {

// The names are in the order of the enumerators.
constexpr std::array<std::string_view, kLevels> kLevelNames = {"process",   "container", "vm",  "pod",
                                                               "namespace", "owner",     "user"};
constexpr std::array<std::string_view, kUnlistedReasons> kReasonNames = {"departed", "capped", "unseen", "outside"};
constexpr std::array<std::string_view, 7> kMethodNames = {
    "cpu-time", "cycles", "cycles-instructions-mix", "cache-misses", "model", "cpu-requests", "memory-requests"};
constexpr std::array<std::string_view, 3> kConfidenceNames = {"learning", "extrapolated", "measured"};

}  // namespace

std::string_view ToString(Level level) { return kLevelNames.at(std::to_underlying(level)); }
std::string_view ToString(State state) { return state == State::kRunning ? "running" : "terminated"; }
std::string_view ToString(Unlisted reason) { return kReasonNames.at(std::to_underlying(reason)); }
std::string_view ToString(Method method) { return kMethodNames.at(std::to_underlying(method)); }
std::string_view ToString(Confidence confidence) { return kConfidenceNames.at(std::to_underlying(confidence)); }
std::string_view ToString(RatioMethod method) { return method == RatioMethod::kExact ? "exact" : "proc-stat"; }

struct Pool::Shared {
  std::mutex mutex;
  size_t max = 0;
  size_t handed_out = 0;
  std::vector<std::unique_ptr<Snapshot>> free;
};

Pool::Pool(size_t max) : shared_(std::make_shared<Shared>()) { shared_->max = max; }

std::shared_ptr<Snapshot> Pool::Acquire() {
  std::unique_ptr<Snapshot> next;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->handed_out == shared_->max) return nullptr;
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
  latest_.swap(next);  // the old snapshot is released without the lock, because parameters outlive local variables
}

std::shared_ptr<const Snapshot> Board::Latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

}  // namespace kepler::snapshot
