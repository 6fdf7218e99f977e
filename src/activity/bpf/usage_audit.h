#pragma once
// UsageAudit: what the cgroups themselves say they used, against what their processes were given. Ends that nobody told
// of, skipped programs and dropped records are missing in the books, and in no record; the usage of the cgroup has
// them. They become its residual.
//
// A comparison spans two looks, because records of the dead come late (RCU, up to some 30 ms):
//
//   look k      usages are read, right before the pass over the living; then what the pass and the records have given
//   look k+1    with the ring drained: usage(k) − given(k) − what records have told since of processes that were over
//               before the pass of look k  =  missing, and charged
//
// A record that comes later still is not given out again, as far as its time was charged.
//
// What is missing is charged only where something is known to be lost: no cgroup loses time for nothing. Without a loss
// the difference is one of booking (threads in cgroups of their own, a cgroup made anew under an old path between two
// readings): what was missing a minute ago, and no loss has come to light since, is no loss. Usages are read once
// a minute, and for a minute after something was lost at each look, as far as that takes no more than kMaxShare of
// the time. Collection thread only.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "activity/activity_source.h"
#include "activity/bpf/cgroup_directory.h"
#include "activity/bpf/task_table.h"
#include "activity/cgroup_accounts.h"
#include "activity/membership.h"
#include "base/clock.h"

namespace kepler::activity::bpf {

class UsageAudit {
 public:
  UsageAudit(const cgroup::Trees& trees, const os::CgroupMembership& own);

  /// False: there is no tree to compare with.
  [[nodiscard]] bool possible() const { return accounts_.any(); }
  /// Right before a pass, with the ring drained: settles the open comparison and begins another one, if that is due.
  /// `losses`: total so far, in any unit. Appends the numbers of cgroups that are gone.
  void BeforePass(TaskTable& table, const Clock& clock, uint64_t losses, snapshot::ActivityStatus& status,
                  std::vector<uint32_t>& gone);
  /// The pass failed.
  void Abandon() {
    if (std::exchange(read_, std::nullopt)) latest_read_.reset();
  }
  /// Adds to `out` the residuals that were found, and takes down what else is in it.
  /// What processes ran before they were moved is in the usage of the cgroup that they came from.
  void Book(ActivitySample& out, CgroupDirectory& directory, const TaskTable& table);

  /// No pass follows: what was found and not told yet goes to `last`.
  void HandOver(ActivitySample& last) { TellCharges(last); }

  [[nodiscard]] const snapshot::AuditStatus& status() const { return accounts_.audit(); }

  /// Of the time, for reading usages.
  static constexpr int kMaxShare = 50;  // 1 ÷ 50
  /// Records take no longer, but under a storm of ends.
  static constexpr Nanoseconds kDelay = std::chrono::milliseconds(100);
  /// A little less than a minute, so that looks a minute apart are not two.
  static constexpr Nanoseconds kPeriod = std::chrono::seconds(58);
  /// The kernel's sum of dead threads is short of some microseconds each until their records come.
  static constexpr Nanoseconds kMin = std::chrono::microseconds(100);

 private:
  /// Numbers of cgroups here, far from those of CgroupDirectory.
  static constexpr uint32_t kFirstNumber = uint32_t{1} << 31;
  using Place = uint32_t;  // index of memberships_
  struct SlotPlace {
    SharedMembership cgroups;  // held, so that the place stays; null: none
    Place place = 0;
  };
  struct Late {
    Place place = 0;
    Nanoseconds time{0};
  };
  struct Charge {
    std::string path;
    uint32_t number = 0;
    Nanoseconds time{0};
  };

  void TakeBackCharged(TaskTable& table);
  void Settle(TaskTable& table);
  [[nodiscard]] bool IsDue(BootTime now) const;
  [[nodiscard]] bool HasLost(BootTime now) const { return lost_at_ && now - *lost_at_ < kPeriod; }
  void TellCharges(ActivitySample& out);
  void BookMoved(const TaskTable::Moved& moved, std::optional<Place> from, CgroupDirectory& directory);
  TaskTable::Moved TakeMoved(Slot slot);
  Place PlaceOf(const SharedMembership& cgroups);
  void ForgetUnused();

  CgroupAccounts accounts_;
  std::vector<Membership> memberships_;
  std::vector<Place> free_;
  boost::unordered_flat_map<const os::CgroupMembership*, Place> places_;
  std::vector<SlotPlace> slots_;
  std::vector<TaskTable::Moved> moved_;  // by slot, while a sample is booked
  std::vector<Late> late_;
  std::vector<Charge> charges_;  // of the latest Settle()
  std::vector<Charge> told_;     // in the latest sample, which has views of them
  std::vector<uint32_t> gone_;   // told with the next sample: this one may still charge them
  ActivitySample settled_sample_;
  std::optional<PassId> read_;  // a comparison is open: its usages were read with that pass
  PassId settled_;              // the same of the latest one that was settled
  std::optional<BootTime> latest_read_;
  BootTime not_before_{};  // the next one
  std::optional<BootTime> lost_at_;
  uint64_t losses_before_ = 0;
};

}  // namespace kepler::activity::bpf
