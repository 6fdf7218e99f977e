#pragma once
// LossAccount: time whose record was dropped because the ring was full. Pure.
//
// The kernel adds up whole processes. Of one that no look had shown everything is lost. Of one that looks had shown
// only what it ran since the latest; what it had been given before is known once the table gives up waiting for its
// record.
#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace kepler::activity::bpf {

class LossAccount {
 public:
  /// All totals since the start; the first two in nanoseconds. Returns what is lost and was not returned before.
  [[nodiscard]] Nanoseconds Update(uint64_t lost_new, uint64_t lost_old, uint64_t lost_old_processes,
                                   uint64_t given_up_processes, Nanoseconds given) {
    // Some are still waited for: what they had been given is not known yet.
    const bool settled = given_up_processes >= lost_old_processes;
    if (settled) {
      const Nanoseconds old = Nanoseconds(static_cast<int64_t>(lost_old)) - given;
      old_ = std::max(old_, old);
    }
    const Nanoseconds total = Nanoseconds(static_cast<int64_t>(lost_new)) + old_;
    const Nanoseconds fresh = std::max(total - returned_, Nanoseconds{0});
    returned_ += fresh;
    return fresh;
  }

 private:
  Nanoseconds old_{0};
  Nanoseconds returned_{0};
};

}  // namespace kepler::activity::bpf
