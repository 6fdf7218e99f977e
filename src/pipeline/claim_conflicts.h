#pragma once
// ClaimConflicts: counts and logs claims of ids that belong to another workload. A cgroup with such a claim has a
// separate id anyway (cgroup/owner.h). Collection thread only.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "cgroup/owner.h"
#include "pipeline/open_groups.h"
#include "status/agent_status.h"
#include "workload/pod_directory.h"

namespace kepler::pipeline {

class ClaimConflicts {
 public:
  /// Both must outlive the object.
  ClaimConflicts(const OpenGroups& containers, const OpenGroups& pods) : containers_(containers), pods_(pods) {}

  /// A cgroup of this owner exists in this tick. Costs nothing unless a user or container made the claim. `known`: the
  /// cluster's pods.
  void See(const cgroup::Owner& owner, const workload::PodMap& known, BootTime now) {
    if (owner.container && !cgroup::AuthorityOf(owner.container->id).empty())
      SeeContainer(*owner.container, known, now);
    if (!cgroup::AuthorityOf(owner.pod_uid).empty()) SeePod(owner.pod_uid, known, now);
  }
  /// Drops claims that were not seen in this tick. A returning claim counts again.
  void EndTick();
  void CountVm() { ++counts_.vms; }
  [[nodiscard]] const status::RefusedClaims& counts() const { return counts_; }

 private:
  void SeeContainer(const ContainerId& container, const workload::PodMap& known, BootTime now);
  void SeePod(std::string_view pod_uid, const workload::PodMap& known, BootTime now);
  /// True for a claim that was not seen in the last tick.
  bool IsNew(std::string_view kind, std::string_view id);
  void Say(std::string_view kind, std::string_view id, BootTime now);

  const OpenGroups& containers_;
  const OpenGroups& pods_;
  status::RefusedClaims counts_;
  std::map<std::string, uint64_t, std::less<>> seen_;  // claim → latest tick that saw it
  uint64_t tick_ = 1;
  std::string above_, key_;  // reused buffers for lookups without allocation
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
