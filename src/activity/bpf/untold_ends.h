#pragma once
// UntoldEnds: how many tasks ended without a record, not even a dropped one. Pure.
//
// A kernel may skip a program (to keep it from running within itself, or for a sandbox' sake): no counter of ours moves
// then. But every task that was made either lives or has ended. Tasks made and living are taken at one look and ends at
// the next, so that a record that is merely late is not missed: the answer is never too large, and right once things
// are quiet.
#include <algorithm>
#include <cstdint>
#include <optional>

namespace kepler::activity::bpf {

class UntoldEnds {
 public:
  /// Before a pass: records so far, dropped ones included. Returns the total since the first look.
  uint64_t Update(uint64_t ended) {
    if (first_ && latest_) {
      // Signed: what lives now may have been made after `made` was read.
      const int64_t ends = Difference(latest_->made, first_->made) - Difference(latest_->living, first_->living);
      total_ = std::max(total_, ends - Difference(ended, first_->ended));
    }
    return static_cast<uint64_t>(total_);
  }
  /// At a look: tasks made since boot, read before the pass; rows of the pass; records so far, as above.
  uint64_t Update(uint64_t made, uint64_t living, uint64_t ended) {
    const uint64_t total = Update(ended);
    latest_ = Look{made, living, ended};
    if (!first_) first_ = latest_;
    return total;
  }

 private:
  struct Look {
    uint64_t made = 0;
    uint64_t living = 0;
    uint64_t ended = 0;
  };
  static int64_t Difference(uint64_t now, uint64_t before) { return static_cast<int64_t>(now - before); }

  std::optional<Look> first_;
  std::optional<Look> latest_;
  int64_t total_ = 0;
};

}  // namespace kepler::activity::bpf
