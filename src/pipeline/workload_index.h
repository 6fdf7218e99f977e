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
#include "snapshot/snapshot.h"
#include "workload/resolver.h"

namespace kepler::pipeline {

class WorkloadIndex {
 public:
  WorkloadIndex(workload::Resolver& resolver, attribution::Ledger& ledger) : resolver_(resolver), ledger_(ledger) {}

  /// Hands one look to the ledger, between its BeginTick() and Settle().
  void Apply(const activity::ActivitySample& sample, std::span<const activity::LivingCgroup> cgroups);

 private:
  struct SlotState {
    uint32_t version = 0;  // 0: empty
    attribution::Row row = attribution::kNoRow;
  };

  void Identify(const activity::ProcessSample& process, SlotState& state);
  [[nodiscard]] attribution::Membership GroupsOf(const workload::CgroupOwner& owner, std::string_view container_name);
  const workload::CgroupOwner& OwnerOf(uint32_t cgroup, std::string_view path);
  void KeepAlive(const workload::CgroupOwner& owner);

  workload::Resolver& resolver_;
  attribution::Ledger& ledger_;
  std::vector<SlotState> slots_;
  std::unordered_map<uint32_t, workload::CgroupOwner> cgroup_owners_;
};

}  // namespace kepler::pipeline
