#pragma once
// WorkloadIndex: from activity (slots, cgroups) to owners (rows of the ledger). Resolves a process once per change of
// its comm, exe or cgroup, and searches for a KVM machine at the times of MachineSearch; everything else is an array
// look-up. Collection thread only.
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "activity/activity_source.h"
#include "attribution/ledger.h"
#include "base/log.h"
#include "pipeline/claim_conflicts.h"
#include "pipeline/open_groups.h"
#include "workload/hypervisor/machine_search.h"
#include "workload/hypervisor/vm_claims.h"
#include "workload/identity_of.h"
#include "workload/pod_directory.h"
#include "workload/resolver.h"

namespace kepler::pipeline {

class WorkloadIndex {
 public:
  /// Maximum time that a new pod or container waits for its name before it gets a series without one. With the default
  /// monitor.interval that is one tick.
  static constexpr std::chrono::seconds kMaxHold{4};

  /// `pods` may be null; all must outlive the index. `max_label_bytes`: of names.
  WorkloadIndex(workload::Resolver& resolver, workload::PodDirectory* pods, attribution::Ledger& ledger,
                size_t max_label_bytes)
      : resolver_(resolver), directory_(pods), ledger_(ledger), max_label_bytes_(max_label_bytes) {}

  /// Reads one scan, identifies its workloads, and charges them to the ledger, between its BeginTick() and Settle().
  void Apply(const activity::ActivitySample& sample, std::span<const cgroup::CgroupPtr> cgroups);
  /// Forgets the groups that the ledger closed in this tick. Call once per tick, after Settle().
  void Forget(const attribution::ClosedGroups& containers, const attribution::ClosedGroups& pods);
  /// Returns the pods of the cluster, as known in this tick.
  [[nodiscard]] const workload::PodMap& pods() const { return *pods_; }
  /// Returns the number of living processes that claim a VM which a process of another owner already runs.
  [[nodiscard]] size_t refused() const { return refused_.size(); }
  [[nodiscard]] const status::RefusedClaims& refused_claims() const { return conflicts_.counts(); }

 private:
  struct SlotState {
    uint32_t version = 0;  // 0: not identified
    attribution::Row row = attribution::kNoRow;
    uint32_t identified = 0;                // number of the latest identification; 0: none
    uint32_t retry_tick = 0;                // tick of the next attempt, after a read was too late; 0: none
    uint8_t late = 0;                       // how many reads in a row were too late
    workload::ProcessIdentityPtr identity;  // of the account; null: not identified
    workload::hypervisor::Machine machine = workload::hypervisor::kNoMachine;  // the VM that the process runs
    workload::hypervisor::MachineSearch search;
    bool machine_due = false;  // a VM was found in this scan, so the process must be identified
    bool refused = false;      // the latest known claim was for a VM that a process of another owner runs
    bool reported = false;     // the log has the refusal
  };
  /// A process that claims to run a VM.
  struct Claim {
    const activity::ProcessSample* process;
    workload::ProcessOwner owner;
    workload::hypervisor::ClaimRank rank;
  };
  using Processes = std::span<const activity::ProcessSample>;
  /// A process whose claim was refused, because a process of another owner runs the VM.
  struct Refused {
    activity::Slot slot;
    uint32_t identified;  // as in SlotState. If the slot has another number now, this refusal is void
    snapshot::VmIdentity vm;
    workload::ProcessOwner owner;
  };

  void IdentifyAll(Processes processes);
  /// Identifies new and changed processes, and looks for KVM descriptors in processes that run no known VM and have
  /// used enough CPU time. The number of looks per scan is limited. A scan begins with the process at which the
  /// previous scan reached the limit, so each process gets its turn.
  void IdentifyChanged(Processes processes);
  /// Returns false if the process must be read, and the limit of this scan is reached.
  bool FindMachine(const activity::ProcessSample& process, SlotState& state);
  /// Returns true if the process still runs the program of its account.
  [[nodiscard]] static bool RunsSame(const cgroup::ProcessInfo& info, const SlotState& state) {
    return state.identity && workload::Runs(*state.identity, info.exe);
  }
  /// Only collects a claim for a VM. SettleClaims() decides it when all processes are identified.
  void Identify(const activity::ProcessSample& process, SlotState& state);
  void RetryLater(workload::Delayed why, SlotState& state) const;
  /// Returns the known VM of the process if it still runs the same program.
  [[nodiscard]] static workload::hypervisor::Machine MachineSoFar(const cgroup::ProcessInfo& info,
                                                                  const SlotState& state) {
    return RunsSame(info, state) ? state.machine : workload::hypervisor::kNoMachine;
  }
  void IdentifyExited(const cgroup::ProcessInfo& info, uint32_t version, SlotState& state);
  void SetIdentity(const cgroup::ProcessInfo& info, const workload::ProcessOwner& owner,
                   workload::hypervisor::Machine machine, SlotState& state);
  void End(SlotState& state);
  void SettleClaims(Processes processes);
  void Settle(const Claim& claim, Processes processes);
  /// Returns true if the claim has better evidence than the processes that run the VM now.
  bool HasBetterEvidence(const Claim& claim, workload::hypervisor::Machine machine, Processes processes);
  /// Takes the VM from the processes that run it, so that the claim can have it.
  void Oust(workload::hypervisor::Machine machine, const Claim& by, Processes processes);
  void AskAgain();
  [[nodiscard]] bool IsOver(const Refused& refused) const {
    return slots_[refused.slot].identified != refused.identified;
  }
  void LogRefusal(const Refused& refused);
  /// Follows the slots of a new activity source. The rows stay.
  void Renumber(std::span<const activity::MovedProcess> moved);
  void ApplyExited(std::span<const activity::ExitedSample> exited);
  void Charge(const activity::ActivitySample& sample);
  void ApplyShortLived(std::span<const activity::ShortLivedSample> short_lived);
  [[nodiscard]] attribution::Groups GroupsOf(const cgroup::Owner& owner, std::string_view container_name);
  /// Asks the directory for the unknown names of a pod and its container. A pod or container without a series gets its
  /// series after the answer.
  void AwaitNames(const cgroup::Owner& owner, attribution::Row pod, attribution::Row container);
  void TouchContainer(attribution::Row container);
  void TouchPod(attribution::Row pod);
  /// Releases pods and containers whose names are known or that have waited for kMaxHold. An ended one stays alive
  /// until a series has shown it.
  void ReleasePending();
  [[nodiscard]] bool HasWaitedEnough(BootTime since) const { return !awaits_ || now_ - since >= kMaxHold; }
  void KeepAlive(const cgroup::Owner& owner);
  void LearnPods();
  void SetOwner(attribution::Row pod, const workload::KnownPod& known);
  [[nodiscard]] snapshot::PodIdentity PodOf(const std::string& uid) const;
  [[nodiscard]] std::string_view NameOf(const ContainerId& container, std::string_view otherwise) const;

  workload::Resolver& resolver_;
  workload::PodDirectory* const directory_;
  attribution::Ledger& ledger_;
  const size_t max_label_bytes_;
  std::shared_ptr<const workload::PodMap> pods_ = std::make_shared<const workload::PodMap>();  // as of this tick
  /// A pod or container that has no series before its name is known.
  struct Pending {
    attribution::Row row;
    BootTime since;
    std::string id;
  };
  std::vector<Pending> pending_pods_;
  std::vector<Pending> pending_containers_;
  BootTime now_{};       // of this tick
  bool awaits_ = false;  // names are awaited in this tick: there is a directory, and it answers
  std::vector<SlotState> slots_;
  boost::unordered_flat_map<const cgroup::Membership*, attribution::Groups> short_lived_groups_;  // of this tick
  std::vector<Claim> claims_;                                                                     // of this tick
  std::vector<Refused> refused_;
  workload::hypervisor::VmClaims vm_claims_;
  std::vector<attribution::Row> vm_rows_;  // by machine
  OpenGroups open_containers_;
  OpenGroups open_pods_;
  ClaimConflicts conflicts_{open_containers_, open_pods_};
  log::LogLimiter limiter_;
  int32_t look_from_ = 0;  // the first pid that the previous scan did not look at
  uint32_t tick_ = 0;
  uint32_t identifications_ = 0;
};

}  // namespace kepler::pipeline
