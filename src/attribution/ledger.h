#pragma once
// Ledger: who pays. Holds the node's totals and the accounts of every level, splits each tick's active energy over what
// ran, and writes the result into a snapshot. The invariants of docs/INVARIANTS.md hold after every Settle().
// Pure (no I/O, no clock of its own); collection thread only.
//
// One tick:   BeginTick → [Open/Close/EndProcess, Container, Vm, Pod, Touch…, Use…]* → Settle → Publish
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "attribution/book.h"
#include "attribution/counter_weights.h"
#include "attribution/distribute.h"
#include "base/clock.h"
#include "base/hardware_events.h"
#include "base/ids.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// What one zone used since the last tick.
struct ZoneTick {
  Energy energy;
  Power power;
  bool fresh = false;
};

/// Whether a tick saw the processes. Without a look nobody ends: absence proves nothing then.
enum class Look : uint8_t { kDone, kFailed };

/// The groups that a process or a cgroup belongs to; kNoRow where it belongs to none.
struct Membership {
  Row container = kNoRow;
  Row vm = kNoRow;
  Row pod = kNoRow;
  bool operator==(const Membership&) const = default;
};

/// A process that came and went within one tick, or `rest`: what comes to light of one whose end was told before. The
/// texts are as read, and stay until Settle().
struct BriefProcess {
  int32_t pid = 0;
  std::string_view comm;
  std::string_view exe;
  std::string_view type;  // a literal
  Membership groups;
  Nanoseconds cpu{0};
  HardwareEvents events{};
  bool rest = false;
};

class Ledger {
 public:
  explicit Ledger(RetentionPolicy policy, Weights weights = Weights::kCpuTime);

  /// The exported zones, in the order of ZoneTick. May grow at the end; may be replaced only while nothing was charged.
  void SetZones(std::vector<snapshot::Zone> zones, size_t primary);
  [[nodiscard]] std::span<const snapshot::Zone> zones() const { return zones_; }
  /// True while no zone has used anything yet.
  [[nodiscard]] bool empty() const;

  void BeginTick(BootTime now);

  /// The group with these labels: found (a terminated one goes on), relabelled if a label changed (an empty name does
  /// not erase a known one), or opened at 0. A row stays valid while its group is touched in every tick.
  Row Pod(const snapshot::PodIdentity& identity);
  Row Container(const snapshot::ContainerIdentity& identity, Row pod);
  /// A VM is (hypervisor, id, owner). kNoRow if a process of another owner is in the one with these labels: the claim
  /// changes nothing then. If another owner's has ended, or ends in this tick, it departs and this one starts at 0.
  /// `member`: the VM that the claiming process is in, or kNoRow; its own it keeps, whatever owner it has become.
  Row Vm(const snapshot::VmIdentity& identity, const VmOwner& owner, Row member = kNoRow);
  /// Whether Vm() would give a row.
  [[nodiscard]] bool MayBeVm(const snapshot::VmIdentity& identity, const VmOwner& owner) const;
  /// The row of a listed VM, kNoRow if there is none.
  [[nodiscard]] Row FindVm(const snapshot::VmIdentity& identity) const;
  [[nodiscard]] const VmOwner& OwnerOfVm(Row vm) const { return vm_owners_[vm].owner; }
  /// The row of a listed container, kNoRow if there is none.
  [[nodiscard]] Row FindContainer(const ContainerId& id) const;
  [[nodiscard]] Row FindPod(const std::string& uid) const;
  [[nodiscard]] Row PodOf(Row container) const { return container_pod_[container]; }
  /// Says that the group is alive in this tick; one that had ended goes on. A container also keeps its pod alive.
  void TouchContainer(Row container);
  void TouchPod(Row pod);

  /// A process account that starts at 0. An ended process that is still listed under the same labels departs.
  Row OpenProcess(std::shared_ptr<const snapshot::ProcessIdentity> identity, const Membership& groups);
  [[nodiscard]] const snapshot::ProcessIdentity& IdentityOf(Row process) const { return processes_.identity(process); }
  [[nodiscard]] const Membership& GroupsOf(Row process) const { return process_groups_[process]; }
  [[nodiscard]] const snapshot::VmIdentity& VmIdentityOf(Row vm) const { return vms_.identity(vm); }
  /// Whether the account has these labels and groups: if so it goes on.
  [[nodiscard]] bool IsProcess(Row process, const snapshot::ProcessIdentity& identity, const Membership& groups) const {
    return process_groups_[process] == groups && processes_.identity(process) == identity;
  }
  /// The labels or the container of a living process changed: its series departs now.
  void CloseProcess(Row process);
  /// The process is gone; takes effect in Settle(), after its last slice was charged.
  void EndProcess(Row process);

  /// A process ran for `cpu` (0 is fine: it is alive). Touches its groups.
  void UseProcess(Row process, Nanoseconds cpu, const HardwareEvents& events = {});
  /// It is charged like any process and touches its groups, but gets a series only if it used enough to be listed as
  /// terminated, and is no rest; else it is `capped`. Allocates only for those that are listed.
  void UseBrief(const BriefProcess& brief);
  /// A cgroup ran for `cpu` without any process we know.
  void UseResidual(const Membership& groups, Nanoseconds cpu);
  /// Time whose owner is lost or invisible.
  void UseUnattributed(Nanoseconds cpu);

  /// Charges the tick and, after a look, ends what was not touched. `zones` as SetZones().
  void Settle(std::span<const ZoneTick> zones, Ratio active, Look look);

  /// Writes zones, node, tables, unlisted, unattributed and conservation_error.
  void Publish(snapshot::Snapshot& out);

 private:
  /// Which rows of a group book were alive in which tick.
  class AliveSet {
   public:
    void Touch(Row row, uint64_t tick) {
      if (row >= seen_.size()) seen_.resize(row + 1);
      seen_[row] = tick;
    }
    [[nodiscard]] bool IsAlive(Row row, uint64_t tick) const { return row < seen_.size() && seen_[row] == tick; }

   private:
    std::vector<uint64_t> seen_;
  };
  enum class Owner : uint8_t { kProcess, kBrief, kResidual, kUnattributed };
  struct Usage {
    Owner owner;
    Row row;  // of the process; for kBrief its place in briefs_
    Membership groups;
  };
  /// Of a VM's row: who owns it and how many of the processes that have an account are in it.
  struct VmHolder {
    VmOwner owner;
    uint32_t processes = 0;
  };
  using ByZone = std::vector<Energy>;
  using TerminatedPids = std::unordered_multimap<int32_t, Row>;

  void Use(const Usage& usage, Nanoseconds cpu, const HardwareEvents& events);
  void ChargeZones();
  void ChargeZone(size_t zone);
  void ChargeShare(const Usage& usage, size_t zone, Energy share);
  void ChargeCpu(const Usage& usage, Nanoseconds cpu);
  void ChargeEvents(const Usage& usage, const HardwareEvents& events);
  void ListBriefs();
  void ListBrief(Usage& usage);
  void EndProcesses();
  /// Calls `gone(row)` for each row that is freed.
  template <class Identity, class OnGone>
  void EndUntouched(Book<Identity>& book, const AliveSet& alive, std::unordered_map<std::string, Row>& rows,
                    OnGone&& gone);
  Row OpenAccount(std::shared_ptr<const snapshot::ProcessIdentity> identity, const Membership& groups);
  Row OpenVm(const snapshot::VmIdentity& identity, const VmOwner& owner);
  void LeaveVm(Row process);
  void DepartReplacedVms();
  void ForgetLiving(Row process);
  [[nodiscard]] TerminatedPids::iterator FindTerminatedTwin(const snapshot::ProcessIdentity& identity);
  void DropTerminatedTwin(const snapshot::ProcessIdentity& identity);
  void ForgetTerminated(Row process);
  ByZone& Unlisted(snapshot::Level level, snapshot::Unlisted reason);
  void PublishUnlisted(snapshot::Snapshot& out) const;
  static void Check(snapshot::Snapshot& out);

  std::vector<snapshot::Zone> zones_;
  size_t primary_ = 0;
  BootTime now_{};
  uint64_t tick_ = 0;

  RetentionPolicy policy_;
  Weights weights_;
  std::vector<snapshot::NodeZone> node_;
  std::vector<Energy> active_;  // of this tick, per zone
  std::vector<bool> learn_;     // per zone: energy and time of this tick are of the same length
  bool looked_ = false;         // in the previous tick
  Ratio ratio_;
  ByZone unattributed_;
  Nanoseconds unattributed_cpu_{0};
  std::array<std::array<ByZone, snapshot::kUnlistedReasons>, snapshot::kLevels> unlisted_;  // unseen and outside

  Book<snapshot::ProcessIdentity> processes_;
  Book<snapshot::ContainerIdentity> containers_;
  Book<snapshot::VmIdentity> vms_;
  Book<snapshot::PodIdentity> pods_;
  std::unordered_map<std::string, Row> container_rows_;
  std::unordered_map<std::string, Row> vm_rows_;
  std::unordered_map<std::string, Row> pod_rows_;
  AliveSet alive_containers_;
  AliveSet alive_vms_;
  AliveSet alive_pods_;
  std::vector<Membership> process_groups_;  // by process row
  std::vector<Row> container_pod_;          // by container row
  std::vector<VmHolder> vm_owners_;         // by VM row
  std::vector<Row> replaced_vms_;           // of this tick: another owner has their labels, they only wait for Settle()
  TerminatedPids terminated_pids_;

  boost::unordered_flat_map<int32_t, Row> living_pids_;
  std::vector<Row> ending_;
  std::vector<Usage> usage_;
  std::vector<uint64_t> cpu_;           // ns, parallel to usage_
  std::vector<HardwareEvents> events_;  // parallel to usage_
  std::vector<BriefProcess> briefs_;
  std::vector<uint32_t> candidates_;  // usages of briefs that used enough to be listed
  std::vector<Energy> shares_;
  CounterWeights counter_weights_;
  std::vector<double> watts_per_uj_;
  Distributor distributor_;
};

}  // namespace kepler::attribution
