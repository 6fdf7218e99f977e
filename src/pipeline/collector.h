#pragma once
// Collector: runs ticks on the collection thread, at deadlines and on demand, one at a time.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "pipeline/node_tick.h"
#include "pipeline/tick_schedule.h"
#include "snapshot/snapshot.h"

namespace kepler::pipeline {

class Collector {
 public:
  /// All arguments must outlive the collector. interval 0: only ticks on demand, after the first two ticks.
  Collector(NodeTick& tick, const snapshot::Board& board, const Clock& clock, Freshness freshness);
  ~Collector();  // stops
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Calls `observe` on the collection thread after each tick that published a snapshot. Call before Start(). `observe`
  /// must be quick.
  void OnSnapshot(std::function<void(const snapshot::Snapshot&)> observe) { observe_ = std::move(observe); }

  /// Runs the first tick (the baseline), then starts the thread. The first snapshot follows min(interval, 250 ms) after
  /// the begin of the baseline, but at least 100 ms after its end, so that the snapshot has watts. With many processes,
  /// the baseline takes long. An error means that the kernel refused a timer or a thread.
  [[nodiscard]] Status Start();
  void Stop();

  /// The latest snapshot, no older than the staleness if a tick can provide it within `kMaxWait`; else the old one.
  /// Null before the first. Any thread but the collector's; concurrent callers share one tick.
  [[nodiscard]] std::shared_ptr<const snapshot::Snapshot> Fresh();
  /// Returns true if ticks run on time. Constant time.
  [[nodiscard]] bool IsLive() const;

  static constexpr std::chrono::milliseconds kMaxWait{1000};
  static constexpr std::chrono::milliseconds kBetweenDemands{100};
  static constexpr std::chrono::milliseconds kFirstInterval{250};
  /// Minimum time between drains of the activity source: a descriptor that stays readable must not use a whole CPU.
  static constexpr std::chrono::milliseconds kBetweenDrains{20};

 private:
  void Loop(const std::stop_token& stop);
  /// Waits for the deadline, a request, the activity source or the stop. Returns false for the stop.
  bool Wait(const std::stop_token& stop, std::optional<BootTime> deadline);
  void RunTick(uint64_t missed);
  /// Returns true if `latest` (null: none) answers a request made at `asked`.
  [[nodiscard]] bool Answers(const snapshot::Snapshot* latest, BootTime asked) const;
  [[nodiscard]] BootTime LastTick() const;
  [[nodiscard]] std::optional<BootTime> NextWake(const Schedule& schedule) const;

  NodeTick& tick_;
  const snapshot::Board& board_;
  const Clock& clock_;
  const Freshness freshness_;
  BootTime baseline_begin_{};
  UniqueFd timer_;
  UniqueFd wake_;
  std::function<void(const snapshot::Snapshot&)> observe_;
  uint64_t observed_ = 0;               // sequence of the last observed snapshot; collection thread only
  std::optional<BootTime> last_drain_;  // collection thread only

  mutable std::mutex mutex_;
  std::condition_variable ticked_;
  std::optional<BootTime> wanted_since_;  // oldest request that no tick has answered yet
  BootTime wanted_last_{};                // newest request
  BootTime last_tick_{};
  std::jthread thread_;  // keep last: it uses everything above
};

}  // namespace kepler::pipeline
