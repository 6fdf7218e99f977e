#pragma once
// UnreportedEnds: counts tasks that ended without a record, not even a dropped one. Pure.
//
// A kernel may skip a program, to prevent recursion or because of a sandbox. No counter of the programs changes then.
// However, every created task either lives or has ended. Created and living tasks are counted at one scan, ends at the
// next scan, so a delayed record is not counted as missing. The result is never too large, and exact once the machine
// is quiet. Until then, ends between the two scans hide missing records. The suspected number is the number without a
// record soon after the first scan.
#include <algorithm>
#include <cstdint>
#include <optional>

namespace kepler::activity::bpf {

class UnreportedEnds {
 public:
  /// Call before a pass. `ended`: records so far, including dropped ones. Returns the total since the first scan.
  uint64_t Update(uint64_t ended) {
    before_pass_ = ended;
    if (first_ && latest_) total_ = std::max(total_, Missing(ended));
    return static_cast<uint64_t>(total_);
  }
  /// Call before a pass, after Update(). `ended_soon`: records soon after the latest pass. Returns the largest number
  /// suspected so far.
  uint64_t Suspect(uint64_t ended_soon) {
    if (first_ && latest_) suspected_ = std::max(suspected_, Missing(ended_soon));
    return static_cast<uint64_t>(suspected_);
  }
  /// Call at a scan. `made`: tasks created since boot, read before the pass. `living`: rows of the pass. `ended`:
  /// records so far, including dropped ones.
  uint64_t Update(uint64_t made, uint64_t living, uint64_t ended) {
    const uint64_t before_pass = before_pass_;
    const uint64_t total = Update(ended);
    latest_ = Scan{made, living, ended};
    if (first_)
      ForgetEarlierEnds(-Missing(before_pass));
    else
      first_ = latest_;
    return total;
  }

 private:
  struct Scan {
    uint64_t made = 0;
    uint64_t living = 0;
    uint64_t ended = 0;
  };
  /// Returns ends up to the latest scan minus the `ended` reported ones. The result is signed: a living task may have
  /// been created after `made` was read.
  [[nodiscard]] int64_t Missing(uint64_t ended) const {
    const int64_t ends = Difference(latest_->made, first_->made) - Difference(latest_->living, first_->living);
    return ends - Difference(ended, first_->ended);
  }
  void ForgetEarlierEnds(int64_t surplus) {
    if (surplus <= 0) {
      surpluses_ = 0;
      return;
    }
    least_surplus_ = surpluses_ == 0 ? surplus : std::min(least_surplus_, surplus);
    if (++surpluses_ < kSurplusesThatTell) return;
    first_->ended += static_cast<uint64_t>(least_surplus_);
    surpluses_ = 0;
  }
  static int64_t Difference(uint64_t now, uint64_t before) { return static_cast<int64_t>(now - before); }

  static constexpr int kSurplusesThatTell = 3;
  std::optional<Scan> first_;
  std::optional<Scan> latest_;
  uint64_t before_pass_ = 0;
  int surpluses_ = 0;  // consecutive
  int64_t least_surplus_ = 0;
  int64_t total_ = 0;
  int64_t suspected_ = 0;
};

}  // namespace kepler::activity::bpf
