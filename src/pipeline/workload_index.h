#pragma once
// WorkloadIndex: from what activity saw (slots, cgroups) to who pays (rows of the ledger). Resolves a process once per
// change of its comm, exe or cgroup; everything else is an array look-up. Collection thread only.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "activity/activity_source.h"
#include "attribution/ledger.h"
#include "base/log.h"
#include "snapshot/snapshot.h"
#include "workload/resolver.h"

namespace kepler::pipeline {

class WorkloadIndex {
 public:
  WorkloadIndex(workload::Resolver& resolver, attribution::Ledger& ledger) : resolver_(resolver), ledger_(ledger) {}

  /// Hands one look to the ledger, between its BeginTick() and Settle().
  void Apply(const activity::ActivitySample& sample, std::span<const activity::LivingCgroup> cgroups);
  /// Living processes that are no VM because another owner's process is it.
  [[nodiscard]] size_t refused() const { return refused_.size(); }

 private:
  /// Who owns a membership of briefs, looked up once, and its rows in the tick at hand.
  struct BriefOwner {
    bool known = false;
    cgroup::Owner owner;
    uint32_t tick = 0;
    attribution::Membership groups;
  };
  struct SlotState {
    uint32_t version = 0;  // 0: not identified
    attribution::Row row = attribution::kNoRow;
    uint32_t identified = 0;  // number of the identification that counts; 0: none
    uint32_t retry_tick = 0;  // not all could be read in time: when it is identified again; 0: never
    uint8_t late = 0;         // how often, in a row
    bool refused = false;     // it claimed a VM that another owner runs, when it was last known what it claims
    bool told = false;        // in the log: that it does
  };
  /// A process that would be a VM.
  struct Claim {
    const activity::ProcessSample* process;
    workload::ProcessOwner owner;
    bool refused_before;
  };
  /// A process that is no VM because another owner's process is it.
  struct Refused {
    activity::Slot slot;
    uint32_t identified;  // of its slot: identified anew, or gone, it is refused anew or not at all
    snapshot::VmIdentity vm;
    VmOwner owner;
  };

  /// False: it claims a VM, which is settled when all are known.
  bool Identify(const activity::ProcessSample& process, SlotState& state);
  void RetryLater(workload::Late why, SlotState& state) const;
  /// The VM that it was before, while it runs the same program.
  [[nodiscard]] attribution::Row VmSoFar(const os::ProcessInfo& info, const SlotState& state) const;
  void IdentifyExited(const os::ProcessInfo& info, uint32_t version, SlotState& state);
  void SetIdentity(const os::ProcessInfo& info, const workload::ProcessOwner& owner, attribution::Row vm,
                   SlotState& state);
  void SettleClaims();
  void Settle(const Claim& claim);
  void AskAgain(BootTime now);
  [[nodiscard]] bool IsOver(const Refused& refused) const {
    return slots_[refused.slot].identified != refused.identified;
  }
  void LogRefusal(const Refused& refused, BootTime now);
  /// Another source: rows stay, all numbers are others.
  void Renumber(std::span<const activity::MovedProcess> moved);
  void ApplyBriefs(std::span<const activity::BriefSample> briefs);
  [[nodiscard]] attribution::Membership GroupsOf(const cgroup::Owner& owner, std::string_view container_name);
  const cgroup::Owner& OwnerOf(uint32_t cgroup, std::string_view path);
  void KeepAlive(const cgroup::Owner& owner);

  workload::Resolver& resolver_;
  attribution::Ledger& ledger_;
  std::vector<SlotState> slots_;
  std::unordered_map<uint32_t, cgroup::Owner> cgroup_owners_;
  std::vector<BriefOwner> brief_owners_;  // by BriefSample::membership
  std::vector<Claim> claims_;             // of this tick
  std::vector<Refused> refused_;
  log::LogLimiter limiter_;
  uint32_t tick_ = 0;
  uint32_t identifications_ = 0;
};

}  // namespace kepler::pipeline
