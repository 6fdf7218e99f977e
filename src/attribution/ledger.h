#pragma once
// Ledger: holds the totals of the node and the accounts of every level, splits the active energy of each tick over the
// workloads, and writes the result into a snapshot. The invariants of docs/INVARIANTS.md hold after every Settle().
// Pure (no I/O, no clock of its own); collection thread only.
//
// One tick:   BeginTick → [Open/Close/EndProcess, Container, Vm, Pod, Touch…, Use…]* → Settle → Publish
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "attribution/distribute.h"
#include "attribution/group_accounts.h"
#include "attribution/process_accounts.h"
#include "attribution/process_listing.h"
#include "attribution/roll_ups.h"
#include "attribution/usage_list.h"
#include "attribution/user_accounts.h"
#include "attribution/vm_accounts.h"
#include "attribution/weights.h"
#include "base/clock.h"
#include "base/hardware_events.h"
#include "base/ids.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// Whether a tick saw the processes. After a failed scan no workload ends, because absence proves nothing then.
enum class Scan : uint8_t { kDone, kFailed };

/// A process that started and ended within one tick. With `late_remainder`: CPU time of a process whose end was
/// reported in an earlier tick.
struct ShortLivedProcess {
  size_t number = 0;  // argument of Identify
  Groups groups{};
  Nanoseconds cpu{0};
  HardwareEvents events{};
  bool late_remainder = false;
  uint32_t uid = kUnknownUid;
};

/// Makes the labels of a ShortLivedProcess. It is called only for those that get a series, which are few.
using Identify = std::function<std::shared_ptr<const snapshot::ProcessIdentity>(size_t number)>;

class Ledger {
 public:
  /// `shows_pods`: labels of containers have the name and the namespace of their pod. A running container then departs
  /// when its pod gets another name; an ended one keeps its labels.
  explicit Ledger(RetentionPolicy policy, const ProcessLimits& limits = {}, bool shows_pods = false);

  /// Sets the exported zones, in the order of the charges. A zone that was there before keeps its energy. A zone may be
  /// left out only if nothing was charged to it. `primary`: index of the zone by which ended workloads are ranked.
  void SetZones(std::vector<status::Zone> zones, size_t primary);
  [[nodiscard]] std::span<const status::Zone> zones() const { return zones_; }

  void BeginTick(BootTime now);

  /// Returns the row of the group with these labels, and touches the group (group_accounts.h). A row stays valid while
  /// its group is touched in every tick.
  Row Pod(const snapshot::PodIdentity& identity);
  /// Changes the names of a listed group; does nothing, and allocates nothing, if they are the same. `name` becomes a
  /// label of at most `max_bytes`. Empty names of a pod keep their former values, and its id stays.
  void RenameContainer(Row container, std::string_view name, size_t max_bytes);
  void RenamePod(Row pod, const snapshot::PodIdentity& names);
  // As RollUps::Name() and NameEnded(). The pod may have ended, but must still be listed.
  void SetOwner(Row pod, const OwnerView& owner) { roll_ups_.Name(pod, owner); }
  void SetOwnersOfEnded(const FindOwner& find) { roll_ups_.NameEnded(find); }
  Row Container(const snapshot::ContainerIdentity& identity, Row pod);
  /// As VmAccounts::Open().
  Row Vm(const snapshot::VmIdentity& identity, const VmOwner& owner, bool goes_on = false) {
    return vms_.Open(identity, owner, goes_on);
  }
  [[nodiscard]] Row PodOf(Row container) const { return container_pod_[container]; }
  /// Marks the group as alive in this tick; a group that had ended continues. A container also keeps its pod alive.
  void TouchContainer(Row container);
  void TouchPod(Row pod) { pods_.Touch(pod); }
  // As Accounts::Hold() and Release(). The energy of held groups is in Snapshot::unnamed. A held group must be touched
  // in each tick. Hold…() returns true if it holds the group; it does not hold a group that has or had a series.
  bool HoldContainer(Row container);
  bool HoldPod(Row pod);
  void ReleaseContainer(Row container) { containers_.Release(container); }
  void ReleasePod(Row pod) { pods_.Release(pod); }

  /// As ProcessAccounts.
  Row OpenProcess(std::shared_ptr<const snapshot::ProcessIdentity> identity, const Groups& groups,
                  bool kernel_thread = false, uint32_t uid = kUnknownUid) {
    return processes_.OpenLiving(std::move(identity), groups, kernel_thread, uid);
  }
  void CloseProcess(Row process) { processes_.Close(process); }
  void EndProcess(Row process) { processes_.EndLater(process); }
  /// Returns the account of a living process that has these labels, groups and user from now on. `process`: its account
  /// until now, or kNoRow. If labels or groups have changed, that account is closed and a new one is opened. Another
  /// user does not change the account.
  Row UpdateProcess(Row process, std::shared_ptr<const snapshot::ProcessIdentity> identity, const Groups& groups,
                    bool kernel_thread, uint32_t uid = kUnknownUid);

  [[nodiscard]] const ProcessAccounts& processes() const { return processes_; }
  [[nodiscard]] const GroupAccounts<snapshot::ContainerIdentity>& containers() const { return containers_; }
  [[nodiscard]] const VmAccounts& vms() const { return vms_; }
  [[nodiscard]] const GroupAccounts<snapshot::PodIdentity>& pods() const { return pods_; }

  /// Notes that a process is alive and ran for `cpu`, which may be 0. Touches its groups.
  void UseProcess(Row process, Nanoseconds cpu, const HardwareEvents& events = {});
  /// Charges the process and touches its groups. The process gets a series if it used enough energy to be listed as
  /// terminated and is no late remainder. Otherwise its energy is `capped`. Allocates only for a process with a series.
  void UseShortLived(const ShortLivedProcess& short_lived);
  /// Charges CPU time of a cgroup that belongs to no known process.
  void UseResidual(const Groups& groups, Nanoseconds cpu);
  /// Charges CPU time whose owner is lost or invisible.
  void UseUnattributed(Nanoseconds cpu);
  /// CPU time of the users of this tick: the weights of zones whose energy is split by CPU time.
  [[nodiscard]] const UsageList& cpu_usage() const { return usage_; }

  /// Charges the energy of the tick, and decides which processes have a series. After a scan, also ends untouched
  /// groups and ended processes. `zones`: in the order of SetZones(). Weights of a list other than cpu_usage() must
  /// name running processes only. `identify`: needed if there are short-lived processes.
  void Settle(std::span<const ZoneCharge> zones, Scan scan, const Identify& identify = nullptr);

  /// As UserAccounts::SetNames(). Call after Settle().
  void NameUsers(const FindUserName& find) { users_.SetNames(find); }

  /// Groups that ended in Settle(), and rows that are no longer valid. Valid until the next BeginTick().
  [[nodiscard]] const ClosedGroups& closed_containers() const { return containers_.closed(); }
  [[nodiscard]] const ClosedGroups& closed_pods() const { return pods_.closed(); }

  /// Writes zones, node, methods, tables, unlisted, unattributed and conservation_error.
  void Publish(snapshot::Snapshot& out);

 private:
  using ByZone = std::vector<Energy>;

  void ShowPod(Row container);
  void Use(const Usage& usage, Nanoseconds cpu, const HardwareEvents& events, uint32_t uid);
  void Touch(const Groups& groups);
  void ForgetTick(std::span<const ZoneCharge> zones);
  void ChargeNode(size_t zone, const ZoneCharge& charge);
  void ChargeUsers(std::span<const ZoneCharge> zones, const Identify& identify);
  void ChargeUsers(size_t zone, const ZoneCharge& charge, const Identify& identify);
  void CheckUsers(const UsageList& usage) const;
  void ChargeCpuUsers(size_t zone);
  void ChargeOtherUsers(size_t zone, const UsageList& usage);
  void ChargeShare(const Usage& usage, size_t zone, Energy share);
  void ChargeTime();
  void ListShortLived(const Identify& identify);
  void EndAll();
  void ListProcesses();
  ByZone& Unlisted(snapshot::Level level, snapshot::Unlisted reason);
  void PublishUnlisted(snapshot::Snapshot& out) const;
  void PublishUnnamed(snapshot::Snapshot& out) const;
  void PublishRollUps(snapshot::Snapshot& out);
  static void CheckSums(snapshot::Snapshot& out);

  std::vector<status::Zone> zones_;
  size_t columns_ = 0;  // number of leading zones that accounts have; zones of the whole machine come last
  size_t primary_ = 0;
  BootTime now_{};
  Nanoseconds tick_time_{0};  // time since the previous tick
  BootTime begin_{};          // begin of the charges of this tick: time of the latest tick with a scan
  RetentionPolicy policy_;

  std::vector<snapshot::NodeZone> node_;
  std::vector<snapshot::Method> methods_;
  std::vector<double> watts_per_uj_;
  std::vector<bool> learn_;      // per zone: weights may learn, because energy and CPU time are of the same interval
  std::vector<bool> unchanged_;  // per zone, in the latest tick
  bool scanned_ = false;         // in the previous tick
  ByZone unattributed_;
  Nanoseconds unattributed_cpu_{0};
  std::array<std::array<ByZone, snapshot::kUnlistedReasons>, snapshot::kLevels> unlisted_;  // unseen and outside

  ProcessAccounts processes_;
  ProcessListing listing_;
  GroupAccounts<snapshot::ContainerIdentity> containers_;
  VmAccounts vms_;
  GroupAccounts<snapshot::PodIdentity> pods_;
  RollUps roll_ups_;
  UserAccounts users_;
  std::vector<Row> container_pod_;  // by container row
  const bool shows_pods_;

  UsageList usage_;
  std::vector<ShortLivedProcess> short_lived_;
  std::vector<uint32_t> candidates_;  // usages of short-lived processes that used enough to be listed
  std::vector<Energy> shares_;
  Distributor distributor_;
};

}  // namespace kepler::attribution
