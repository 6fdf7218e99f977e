#pragma once
// UsageAudit: compares the usage of each cgroup with the time given to its processes. Unreported ends, skipped programs
// and dropped records are missing in the accounts and in the records. The usage of the cgroup contains that time. The
// missing time becomes the residual of the cgroup.
//
// A comparison spans two scans, because records of dead threads are delayed (RCU, up to about 30 ms):
//
//   scan k      reads the usages right before the pass over the living threads; then books passes and records
//   scan k+1    drains the ring; missing time = usage(k) − booked(k) − time in later records of processes and threads
//               that ended, or may have ended, before the pass of scan k; charges the missing time
//
// If a record arrives later still, the part of its time that was charged is not given out again.
//
// Missing time is charged only if a loss is known (docs/decisions/0010-audit-charges-known-losses.md). Collection
// thread only.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "activity/activity_source.h"
#include "activity/bpf/cgroup_directory.h"
#include "activity/bpf/task_table.h"
#include "activity/cgroup_accounts.h"
#include "base/clock.h"
#include "bpf/abi.h"

namespace kepler::activity::bpf {

class UsageAudit {
 public:
  UsageAudit(const cgroup::Trees& trees, const os::CgroupLines& own);

  /// False if there is no tree to compare with.
  [[nodiscard]] bool possible() const { return accounts_.any(); }
  /// Settles the open comparison and begins another one if the period has passed. Call right before a pass, with the
  /// ring drained. `losses`: total so far, in any unit.
  void BeforePass(TaskTable& table, const Clock& clock, uint64_t losses, status::ActivityStatus& status);
  /// Call when the pass failed.
  void Abandon() {
    if (std::exchange(read_, std::nullopt)) latest_read_.reset();
  }
  /// Books the times in `out` and charges residuals. CPU time from before a move belongs to the process' previous
  /// cgroup.
  void Book(ActivitySample& out, CgroupDirectory& directory, const TaskTable& table);

  /// Adds unreported residuals to `out`. Book() calls this function; call it alone if no pass follows.
  void Charge(ActivitySample& out);

  [[nodiscard]] const status::AuditStatus& status() const { return accounts_.audit(); }

  /// Maximum share of the agent's time that reading usages may take.
  static constexpr int kMaxShare = 50;  // 1 ÷ 50
  /// Maximum delay of a record, except under a storm of exits.
  static constexpr Nanoseconds kDelay{KEPLER_SOON_NS};
  /// Slightly less than a minute, so that scans one minute apart each begin a comparison.
  static constexpr Nanoseconds kPeriod = std::chrono::seconds(58);
  /// Minimum missing time. The kernel's sum of dead threads lacks some microseconds per thread until their records
  /// come.
  static constexpr Nanoseconds kMin = std::chrono::microseconds(100);

 private:
  using Place = uint32_t;  // index of bookings_
  struct SlotPlace {
    cgroup::MembershipPtr cgroups;  // keeps the place in use; null: none
    Place place = 0;
  };
  struct Delayed {
    Place place = 0;
    Nanoseconds time{0};
  };
  void TakeBackCharged(TaskTable& table);
  void Settle(TaskTable& table);
  [[nodiscard]] bool IsDue(BootTime now) const;
  [[nodiscard]] bool HasLost(BootTime now) const { return lost_at_ && now - *lost_at_ < kPeriod; }
  void BookMoved(const TaskTable::Moved& moved, std::optional<Place> from, CgroupDirectory& directory);
  TaskTable::Moved TakeMoved(Slot slot);
  Place PlaceOf(const cgroup::Membership& cgroups);
  void ForgetUnused();

  CgroupAccounts accounts_;
  std::vector<Booking> bookings_;
  std::vector<Place> free_;
  boost::unordered_flat_map<const cgroup::Membership*, Place> places_;
  std::vector<SlotPlace> slots_;
  std::vector<TaskTable::Moved> moved_;  // by slot, while a sample is booked
  std::vector<Delayed> late_;
  ActivitySample settled_sample_;  // its residuals are charged with the next sample
  std::optional<PassId> read_;     // pass in which the usages of the open comparison were read
  PassId settled_;                 // pass of the latest settled comparison
  std::optional<BootTime> latest_read_;
  BootTime not_before_{};  // earliest time of the next comparison
  std::optional<BootTime> lost_at_;
  uint64_t losses_before_ = 0;
};

}  // namespace kepler::activity::bpf
