#pragma once
// A clock that tests move. Thread-safe.
#include <atomic>
#include <memory>

#include "base/clock.h"

namespace kepler::testing {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::chrono::nanoseconds since_boot = std::chrono::hours(1)) : ns_(since_boot.count()) {}
  [[nodiscard]] BootTime Now() const override { return BootTime(std::chrono::nanoseconds(ns_.load())); }
  [[nodiscard]] WallTime Wall() const override {
    return WallTime(kEpoch + std::chrono::nanoseconds(ns_.load() + wall_offset_ns_.load()));
  }
  void Advance(std::chrono::nanoseconds by) { ns_ += by.count(); }
  /// Moves only the wall clock, as NTP or an operator would.
  void JumpWall(std::chrono::nanoseconds by) { wall_offset_ns_ += by.count(); }

 private:
  static constexpr std::chrono::nanoseconds kEpoch = std::chrono::seconds(1'700'000'000);
  std::atomic<int64_t> ns_;
  std::atomic<int64_t> wall_offset_ns_{0};
};

/// For who keeps its clock alive; `clock` must outlive that all the same.
inline std::shared_ptr<const Clock> Lend(const Clock& clock) { return {std::shared_ptr<void>(), &clock}; }

}  // namespace kepler::testing
