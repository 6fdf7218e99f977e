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
  /// What attribution closed in the tick, after Settle(): once per tick.
  void Forget(const attribution::ClosedGroups& containers, const attribution::ClosedGroups& pods);
  /// What the cluster said, as of this tick.
  [[nodiscard]] const workload::PodMap& pods() const { return *pods_; }
  /// Living processes that are no VM because another owner's process is it.
  [[nodiscard]] size_t refused() const { return refused_.size(); }
  [[nodiscard]] const status::RefusedClaims& refused_claims() const { return conflicts_.counts(); }

 private:
  struct SlotState {
    uint32_t version = 0;  // 0: not identified
    attribution::Row row = attribution::kNoRow;
    uint32_t identified = 0;                // number of the identification that counts; 0: none
    uint32_t retry_tick = 0;                // not all could be read in time: when it is identified again; 0: never
    uint8_t late = 0;                       // how often, in a row
    workload::ProcessIdentityPtr identity;  // of the account; null: not identified
    workload::hypervisor::Machine machine = workload::hypervisor::kNoMachine;  // that it is
    workload::hypervisor::MachineSearch search;
    bool machine_due = false;  // found now: it is to be identified
    bool refused = false;      // it claimed a VM that another owner runs, when it was last known what it claims
    bool reported = false;     // in the log: that it does
  };
  /// A process that would be a VM.
  struct Claim {
    const activity::ProcessSample* process;
    workload::ProcessOwner owner;
    workload::hypervisor::ClaimRank rank;
  };
  using Processes = std::span<const activity::ProcessSample>;
  /// A process that is no VM because another owner's process is it.
  struct Refused {
    activity::Slot slot;
    uint32_t identified;  // of its slot: identified anew, or gone, it is refused anew or not at all
    snapshot::VmIdentity vm;
    workload::ProcessOwner owner;
  };

  void IdentifyAll(Processes processes);
  /// Finds out who is new or has changed, and looks at the descriptors of those that are no VM and have used enough.
  /// Begins where the last scan's looks were used up, so that nobody waits for more than one look at each other.
  void IdentifyChanged(Processes processes);
  /// False: it must be read, but not now.
  bool FindMachine(const activity::ProcessSample& process, SlotState& state);
  /// Whether the program of its account runs still.
  [[nodiscard]] static bool RunsSame(const cgroup::ProcessInfo& info, const SlotState& state) {
    return state.identity && workload::Runs(*state.identity, info.exe);
  }
  /// One that claims a VM is settled when all are known.
  void Identify(const activity::ProcessSample& process, SlotState& state);
  void RetryLater(workload::Delayed why, SlotState& state) const;
  /// The machine that it was before, while it runs the same program.
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
  /// Whether the claim has better evidence than the processes of the machine.
  bool HasBetterEvidence(const Claim& claim, workload::hypervisor::Machine machine, Processes processes);
  /// Makes the processes of the machine plain ones, so that it is free.
  void Oust(workload::hypervisor::Machine machine, const Claim& by, Processes processes);
  void AskAgain();
  [[nodiscard]] bool IsOver(const Refused& refused) const {
    return slots_[refused.slot].identified != refused.identified;
  }
  void LogRefusal(const Refused& refused);
  /// Another source: rows stay, all slots are others.
  void Renumber(std::span<const activity::MovedProcess> moved);
  void ApplyExited(std::span<const activity::ExitedSample> exited);
  void Charge(const activity::ActivitySample& sample);
  void ApplyShortLived(std::span<const activity::ShortLivedSample> short_lived);
  [[nodiscard]] attribution::Groups GroupsOf(const cgroup::Owner& owner, std::string_view container_name);
  /// Asks the directory for the names of a pod and a container of it, if it has not said them. Those that have no
  /// series yet get none before the answer.
  void AwaitNames(const cgroup::Owner& owner, attribution::Row pod, attribution::Row container);
  void TouchContainer(attribution::Row container);
  void TouchPod(attribution::Row pod);
  /// Those that wait for their names stay alive until a series has shown them.
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
  /// Has no series before its name is known.
  struct Pending {
    attribution::Row row;
    BootTime since;
    std::string id;
  };
  std::vector<Pending> pending_pods_;
  std::vector<Pending> pending_containers_;
  BootTime now_{};       // of this tick
  bool awaits_ = false;  // in this tick: there is a directory, and it answers
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
  int32_t look_from_ = 0;  // the first pid that was put off
  uint32_t tick_ = 0;
  uint32_t identifications_ = 0;
};

}  // namespace kepler::pipeline
