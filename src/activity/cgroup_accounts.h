#pragma once
// CgroupAccounts: accounts for CPU time in all cgroup trees of the machine. The main tree contains every process. In
// hybrid mode the kernel has two trees that count the same time. The second tree then covers only containers that no
// line of the main tree names. Time given out in the second tree is also recorded in the main tree, so no time is
// counted twice.
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "activity/activity_source.h"
#include "activity/cgroup_ledger.h"
#include "cgroup/cgroup.h"
#include "cgroup/owner_finder.h"
#include "cgroup/tree.h"

namespace kepler::activity {

/// The nodes of a booking. CgroupAccounts maintains this struct.
struct BookingPlace {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint64_t epoch = 0;          // 0: not located yet
  uint32_t main = kNone;       // node in the main tree
  uint32_t carve_out = kNone;  // node in the second tree, if only the second tree names the container
  uint32_t shadow = kNone;     // node in the second tree, if the main tree names the container too
};

struct Booking {
  cgroup::MembershipPtr cgroups;
  std::string_view text = {};  // key of a table that finds the booking by its text
  uint32_t users = 0;          // 0: the entry is free
  BookingPlace place = {};
};

/// Rules that differ between the activity sources.
struct AccountRules {
  /// True: memberships contain the paths of the trees. False: they contain paths of /proc/PID/cgroup, as this process
  /// sees them.
  bool paths_of_trees = false;
  /// True: residuals are the only report of short-lived processes. False: residuals are time that is missing in
  /// records.
  bool residual_is_known = true;
  /// A smaller residual stays in the account for a later scan.
  Nanoseconds min_residual{1};
  /// Maximum time for which a residual may stay in doubt before it is dropped.
  Nanoseconds doubt_for{0};
};

enum class Residuals : uint8_t {
  kGiven,
  kDoubted,  // kept for a later scan; dropped if no scan gives it out within AccountRules::doubt_for
  kDropped   // never given out
};

class CgroupAccounts {
 public:
  /// Minimum CPU time for a comparison. Clocks and usages are read some milliseconds apart, so smaller values give no
  /// useful ratio.
  static constexpr Nanoseconds kMinCompared = std::chrono::seconds(1);

  /// `own`: the membership of this process in <procfs>/self/cgroup, for cgroup::Paths.
  CgroupAccounts(const cgroup::Trees& trees, const os::CgroupLines& own, int32_t own_pid,
                 const AccountRules& rules = {});

  /// Finds cgroup owners in the same trees. The reference is valid while the accounts live.
  [[nodiscard]] cgroup::OwnerFinder& owners() { return *owners_; }
  /// False if there is no usable tree; no residual is then given out.
  [[nodiscard]] bool any() const { return main_ != nullptr; }
  /// Reads the usages of all cgroups. Call this function first in a scan, before the process clocks are read.
  void ReadUsages(BootTime now, status::ActivityStatus& status);
  /// Records that a process of `booking` used `time`.
  void Book(Booking& booking, Nanoseconds time);
  /// Records that a process in an unknown cgroup used `time`. The time is recorded in the root cgroup.
  void BookRoot(Nanoseconds time) {
    if (main_) main_->AddKnown(CgroupLedger::kRoot, time);
  }
  /// Settles `time` of a record against residuals that were given out earlier. Returns the part of `time` that was in
  /// those residuals.
  [[nodiscard]] Nanoseconds Repay(Booking& booking, Nanoseconds time);
  /// Gives out residuals: usages that were read minus time that was booked. Call this function last in a scan. Returns
  /// the sum of the residuals.
  Nanoseconds Settle(std::span<Booking> bookings, ActivitySample& out, Residuals residuals = Residuals::kGiven);

  [[nodiscard]] const status::AuditStatus& audit() const { return audit_; }
  /// Cgroups that exist, as of the last ReadUsages() and the bookings since. Valid until the next call.
  [[nodiscard]] std::span<const cgroup::CgroupPtr> living() const;
  /// With v1, the cgroup lines of a dying process read "/". The first scan cannot tell the owner of its time.
  [[nodiscard]] bool has_cpuacct() const { return main_ && main_version_ == cgroup::Version::kCpuacct; }

 private:
  /// Returns null if the paths of the tree cannot be matched with those of this process.
  std::unique_ptr<CgroupLedger> MakeLedger(const cgroup::Tree& tree, const os::CgroupLines& own, int32_t own_pid,
                                           CgroupLedger::Scope scope) const;
  /// `add`: adds cgroups that the walk has not found yet. Otherwise the place may stay unknown.
  void Locate(Booking& booking, bool add);
  uint32_t NodeOf(CgroupLedger& ledger, const os::CgroupLine& line, bool add);
  void ActivateCarveOuts(std::span<Booking> bookings);
  void Compare(ResidualAccount& account, Nanoseconds exclusive);
  void Doubt();
  [[nodiscard]] uint64_t Epoch() const;

  AccountRules rules_;
  std::unique_ptr<cgroup::OwnerFinder> owners_;
  cgroup::Version main_version_ = cgroup::Version::kUnified;
  std::unique_ptr<CgroupLedger> main_;
  std::unique_ptr<CgroupLedger> second_;
  std::vector<NodeId> main_of_;  // node in the main tree, indexed by node of the second tree
  uint64_t main_of_epoch_ = 0;
  mutable std::vector<cgroup::CgroupPtr> living_;  // listed when it is asked for
  mutable uint64_t living_changes_ = 0;            // of the ledgers, when it was listed
  bool reported_outside_ = false;
  status::AuditStatus audit_;
  BootTime now_{};
  BootTime doubted_at_{};
  BootTime worst_since_{};   // start of the current minute
  double worst_now_ = 0;     // of the current minute
  double worst_before_ = 0;  // of the previous minute
};

}  // namespace kepler::activity
