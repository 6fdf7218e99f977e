#pragma once
// UnreportedEnds: how many tasks ended without a record, not even a dropped one. Pure.
//
// A kernel may skip a program (to keep it from running within itself, or for a sandbox' sake): no counter of ours moves
// then. But every task that was made either lives or has ended. Tasks made and living are taken at one scan and ends at
// the next, so that a record that is merely late is not missed: the answer is never too large, and right once things
// are quiet. Until then what ends between the scans hides what is missing: so many are suspected as had no record soon
// after the first of the two.
#include <algorithm>
#include <cstdint>
#include <optional>

namespace kepler::activity::bpf {

class UnreportedEnds {
 public:
  /// Before a pass: records so far, dropped ones included. Returns the total since the first scan.
  uint64_t Update(uint64_t ended) {
    before_pass_ = ended;
    if (first_ && latest_) total_ = std::max(total_, Missing(ended));
    return static_cast<uint64_t>(total_);
  }
  /// Before a pass, behind Update(): records as of soon after the latest one. Returns the most that was ever suspected.
  uint64_t Suspect(uint64_t ended_soon) {
    if (first_ && latest_) suspected_ = std::max(suspected_, Missing(ended_soon));
    return static_cast<uint64_t>(suspected_);
  }
  /// At a scan: tasks made since boot, read before the pass; rows of the pass; records so far, as above.
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
  /// Of what had ended by the latest scan, where `ended` are reported. Signed: what lives may have been made after
  /// `made` was read.
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
  int surpluses_ = 0;  // in a row
  int64_t least_surplus_ = 0;
  int64_t total_ = 0;
  int64_t suspected_ = 0;
};

}  // namespace kepler::activity::bpf
