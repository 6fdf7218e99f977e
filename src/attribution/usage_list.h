#pragma once
// UsageList: who used the processors, or a device, in one tick. Energy is split over it. Pure; collection thread only.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attribution/membership.h"
#include "base/hardware_events.h"
#include "base/units.h"

namespace kepler::attribution {

/// Who pays for a share.
struct Usage {
  enum class Payer : uint8_t {
    kProcess,   // the account of `row`
    kBrief,     // a short-lived process without an account; `row` is its place in the ledger's list of them
    kResidual,  // the groups only
    kUnattributed
  };
  Payer payer;
  Row row;
  Membership groups;
};

class UsageList {
 public:
  void Clear() {
    users_.clear();
    time_.clear();
    events_.clear();
  }
  /// `time`: > 0.
  void Add(const Usage& user, Nanoseconds time, const HardwareEvents& events = {}) {
    users_.push_back(user);
    time_.push_back(static_cast<uint64_t>(time.count()));
    events_.push_back(events);
  }
  // Parallel to each other.
  [[nodiscard]] std::span<const Usage> users() const { return users_; }
  [[nodiscard]] std::span<Usage> users() { return users_; }
  [[nodiscard]] std::span<const uint64_t> time() const { return time_; }  // ns
  [[nodiscard]] std::span<const HardwareEvents> events() const { return events_; }

 private:
  std::vector<Usage> users_;
  std::vector<uint64_t> time_;
  std::vector<HardwareEvents> events_;
};

}  // namespace kepler::attribution
