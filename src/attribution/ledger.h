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
#include <unordered_map>
#include <vector>

#include "attribution/book.h"
#include "attribution/distribute.h"
#include "base/clock.h"
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

class Ledger {
 public:
  explicit Ledger(RetentionPolicy policy);

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
  Row Vm(const snapshot::VmIdentity& identity);
  /// The row of a listed container, kNoRow if there is none.
  [[nodiscard]] Row FindContainer(const ContainerId& id) const;
  [[nodiscard]] Row FindPod(const std::string& uid) const;
  [[nodiscard]] Row PodOf(Row container) const { return container_pod_[container]; }
  /// Says that the group is alive in this tick; one that had ended goes on. A container also keeps its pod alive.
  void TouchContainer(Row container);
  void TouchPod(Row pod);

  /// A process account that starts at 0. An ended process that is still listed under the same labels departs.
  Row OpenProcess(std::shared_ptr<const snapshot::ProcessIdentity> identity, const Membership& groups);
  /// Whether the account has these labels and groups: if so it goes on.
  [[nodiscard]] bool IsProcess(Row process, const snapshot::ProcessIdentity& identity, const Membership& groups) const {
    return process_groups_[process] == groups && processes_.identity(process) == identity;
  }
  /// The labels or the container of a living process changed: its series departs now.
  void CloseProcess(Row process);
  /// The process is gone; takes effect in Settle(), after its last slice was charged.
  void EndProcess(Row process) { ending_.push_back(process); }

  /// A process ran for `cpu` (0 is fine: it is alive). Touches its groups.
  void UseProcess(Row process, Nanoseconds cpu);
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
  enum class Owner : uint8_t { kProcess, kResidual, kUnattributed };
  struct Usage {
    Owner owner;
    Row process;
    Membership groups;
  };
  using ByZone = std::vector<Energy>;

  void ChargeZone(size_t zone, Energy active);
  void ChargeShare(const Usage& usage, size_t zone, Energy share);
  void ChargeCpu(const Usage& usage, Nanoseconds cpu);
  void EndProcesses();
  /// Calls `gone(row)` for each row that is freed.
  template <class Identity, class OnGone>
  void EndUntouched(Book<Identity>& book, const AliveSet& alive, std::unordered_map<std::string, Row>& rows,
                    OnGone&& gone);
  void DropTerminatedTwin(const snapshot::ProcessIdentity& identity);
  void ForgetTerminated(Row process);
  ByZone& Unlisted(snapshot::Level level, snapshot::Unlisted reason);
  void PublishUnlisted(snapshot::Snapshot& out) const;
  static void Check(snapshot::Snapshot& out);

  std::vector<snapshot::Zone> zones_;
  size_t primary_ = 0;
  BootTime now_{};
  uint64_t tick_ = 0;

  std::vector<snapshot::NodeZone> node_;
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
  std::unordered_multimap<int32_t, Row> terminated_pids_;

  std::unordered_map<int32_t, Row> opened_pids_;  // in this tick
  std::vector<Row> ending_;
  std::vector<Usage> usage_;
  std::vector<uint64_t> weights_;  // ns, parallel to usage_
  std::vector<Energy> shares_;
  std::vector<double> watts_per_uj_;
  Distributor distributor_;
};

}  // namespace kepler::attribution
