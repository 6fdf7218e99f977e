#pragma once
// CgroupAccounts: the cgroup trees of the machine as one book. One tree is the main one and holds every process; where
// the kernel has two that count the same time (hybrid), the second is only a carve-out: containers that no line of the
// main tree names. What is given out there is known to the main tree, so nothing is counted twice.
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

/// Kept by CgroupAccounts.
struct BookingPlace {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint64_t epoch = 0;          // 0: not found out yet
  uint32_t main = kNone;       // node in the main tree
  uint32_t carve_out = kNone;  // node in the second tree, where the container is named only there
  uint32_t shadow = kNone;     // node in the second tree, where the main one names the container too
};

struct Booking {
  cgroup::MembershipPtr cgroups;
  std::string_view text = {};  // the key of a table that finds it by its text
  uint32_t users = 0;          // 0: free
  BookingPlace place = {};
};

/// What the sources differ in.
struct AccountRules {
  /// Memberships have the paths of the trees; else those of /proc/PID/cgroup, as this process sees them.
  bool paths_of_trees = false;
  /// Residuals are how the source knows of short-lived processes; else they are what its records should have reported.
  bool residual_is_known = true;
  /// Less is left for a later time.
  Nanoseconds min_residual{1};
  /// So long a residual may be doubted before it is none.
  Nanoseconds doubt_for{0};
};

enum class Residuals : uint8_t {
  kGiven,
  kDoubted  // kept for a later scan, and forgotten once none has given it for long enough
};

class CgroupAccounts {
 public:
  /// Less than that is no base for a ratio: clocks and usages are read some milliseconds apart.
  static constexpr Nanoseconds kMinCompared = std::chrono::seconds(1);

  /// `own`: our own membership in <procfs>/self/cgroup, for cgroup::Paths.
  CgroupAccounts(const cgroup::Trees& trees, const os::CgroupLines& own, int32_t own_pid,
                 const AccountRules& rules = {});

  /// Finds owners in the same trees. Lives as long as the accounts.
  [[nodiscard]] cgroup::OwnerFinder& owners() { return *owners_; }
  /// False: there is no tree that could be used, and nothing is given out.
  [[nodiscard]] bool any() const { return main_ != nullptr; }
  /// First thing of a scan: before the clocks of the processes.
  void ReadUsages(BootTime now, snapshot::ActivityStatus& status);
  /// A process of `booking` used `time`.
  void Book(Booking& booking, Nanoseconds time);
  /// Somebody used `time` in an unknown cgroup: the topmost one answers for it.
  void BookRoot(Nanoseconds time) {
    if (main_) main_->AddKnown(CgroupLedger::kRoot, time);
  }
  /// A record has come for `time` that may have been given out as residual: how much of it was, and is settled now.
  [[nodiscard]] Nanoseconds Repay(Booking& booking, Nanoseconds time);
  /// Last thing of a scan: residuals of what was read, less what was booked. Returns the sum of those given.
  Nanoseconds Settle(std::span<Booking> bookings, ActivitySample& out, Residuals residuals = Residuals::kGiven);

  [[nodiscard]] const snapshot::AuditStatus& audit() const { return audit_; }
  /// Cgroups that exist, as of the last ReadUsages() and what was booked since. Lives until the next call.
  [[nodiscard]] std::span<const cgroup::CgroupPtr> living() const;
  /// While v1 lines of a dying process read "/", its first scan cannot say whose time it is.
  [[nodiscard]] bool has_cpuacct() const { return main_ && main_version_ == cgroup::Version::kCpuacct; }

 private:
  /// Null where paths of the tree cannot be matched with ours.
  std::unique_ptr<CgroupLedger> MakeLedger(const cgroup::Tree& tree, const os::CgroupLines& own, int32_t own_pid,
                                           CgroupLedger::Scope scope) const;
  /// `add`: cgroups that the walk has not met are added; otherwise the place may stay unknown.
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
  std::vector<NodeId> main_of_;  // by node of the second tree: where its processes are in the main one
  uint64_t main_of_epoch_ = 0;
  mutable std::vector<cgroup::CgroupPtr> living_;  // listed when it is asked for
  mutable uint64_t living_changes_ = 0;            // of the ledgers, when it was listed
  bool reported_outside_ = false;
  snapshot::AuditStatus audit_;
  BootTime now_{};
  BootTime doubted_at_{};
  BootTime worst_since_{};   // when the present minute began
  double worst_now_ = 0;     // of it
  double worst_before_ = 0;  // of the one before
};

}  // namespace kepler::activity
