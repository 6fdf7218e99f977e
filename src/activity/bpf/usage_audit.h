#pragma once
// UsageAudit: what the cgroups themselves say they used, against what their processes were given. Ends that nobody
// reported, skipped programs and dropped records are missing in the books, and in no record; the usage of the cgroup
// has them. They become its residual.
//
// A comparison spans two scans, because records of the dead come late (RCU, up to some 30 ms):
//
//   scan k      usages are read, right before the pass over the living; then what the pass and the records have given
//   scan k+1    with the ring drained: usage(k) − given(k) − what records have reported since of processes that
//               were over before the pass of scan k  =  missing, and charged
//
// A record that comes later still is not given out again, as far as its time was charged.
//
// What is missing is charged only where something is known to be lost
// (docs/decisions/0010-audit-charges-known-losses.md). Collection thread only.
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

namespace kepler::activity::bpf {

class UsageAudit {
 public:
  UsageAudit(const cgroup::Trees& trees, const os::CgroupLines& own);

  /// False: there is no tree to compare with.
  [[nodiscard]] bool possible() const { return accounts_.any(); }
  /// Right before a pass, with the ring drained: settles the open comparison and begins another one, if that is due.
  /// `losses`: total so far, in any unit.
  void BeforePass(TaskTable& table, const Clock& clock, uint64_t losses, snapshot::ActivityStatus& status);
  /// The pass failed.
  void Abandon() {
    if (std::exchange(read_, std::nullopt)) latest_read_.reset();
  }
  /// Takes down what is in `out`, and charges.
  /// What processes ran before they were moved is in the usage of the cgroup that they came from.
  void Book(ActivitySample& out, CgroupDirectory& directory, const TaskTable& table);

  /// Adds the residuals that were found and not reported yet to `out`: with Book(), or alone where no pass follows.
  void Charge(ActivitySample& out);

  [[nodiscard]] const snapshot::AuditStatus& status() const { return accounts_.audit(); }

  /// Of the time, for reading usages.
  static constexpr int kMaxShare = 50;  // 1 ÷ 50
  /// Records take no longer, but under a storm of ends.
  static constexpr Nanoseconds kDelay = std::chrono::milliseconds(100);
  /// A little less than a minute, so that scans a minute apart are not two.
  static constexpr Nanoseconds kPeriod = std::chrono::seconds(58);
  /// The kernel's sum of dead threads is short of some microseconds each until their records come.
  static constexpr Nanoseconds kMin = std::chrono::microseconds(100);

 private:
  using Place = uint32_t;  // index of bookings_
  struct SlotPlace {
    cgroup::MembershipPtr cgroups;  // held, so that the place stays; null: none
    Place place = 0;
  };
  struct Late {
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
  std::vector<Late> late_;
  ActivitySample settled_sample_;  // its residuals are charged with the next sample
  std::optional<PassId> read_;     // a comparison is open: its usages were read with that pass
  PassId settled_;                 // the same of the latest one that was settled
  std::optional<BootTime> latest_read_;
  BootTime not_before_{};  // the next one
  std::optional<BootTime> lost_at_;
  uint64_t losses_before_ = 0;
};

}  // namespace kepler::activity::bpf
