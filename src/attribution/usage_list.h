#pragma once
// UsageList: users of the processors, or of a device, in one tick. They share its energy. Pure; collection thread only.
#include <cstdint>
#include <span>
#include <vector>

#include "base/hardware_events.h"
#include "base/units.h"

namespace kepler::attribution {

/// Index of an account in its level. A free index is reused for another account.
using Row = uint32_t;
inline constexpr Row kNoRow = UINT32_MAX;

/// Groups of a process or a cgroup; kNoRow if there is none at that level.
struct Groups {
  Row container = kNoRow;
  Row vm = kNoRow;
  Row pod = kNoRow;
  bool operator==(const Groups&) const = default;
};

/// The owner of a share.
struct Usage {
  enum class Payer : uint8_t {
    kProcess,     // the account of `row`
    kShortLived,  // a short-lived process without an account; `row` is its index in the ledger's list of these
    kResidual,    // only the groups
    kUnattributed
  };
  Payer payer;
  Row row;
  Groups groups;
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
  // All three have the same order.
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
