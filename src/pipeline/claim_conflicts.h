#pragma once
// ClaimConflicts: counts and logs claims of ids that belong to another workload. A cgroup that claims such a container
// or pod has an id of its own already (cgroup/owner.h). Collection thread only.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "attribution/ledger.h"
#include "base/clock.h"
#include "base/log.h"
#include "cgroup/owner.h"
#include "status/agent_status.h"
#include "workload/pod_directory.h"

namespace kepler::pipeline {

class ClaimConflicts {
 public:
  /// A cgroup of this owner exists in this tick. Costs nothing unless a user or container made the claim.
  void See(const cgroup::Owner& owner, const attribution::Ledger& ledger, const workload::PodMap& pods, BootTime now) {
    if (owner.container && !cgroup::AuthorityOf(owner.container->id).empty()) SeeContainer(owner, ledger, pods, now);
    if (!cgroup::AuthorityOf(owner.pod_uid).empty()) SeePod(owner, ledger, pods, now);
  }
  /// Forgets claims that were not seen in this tick. If they come back, they count again.
  void EndTick();
  void CountVm() { ++counts_.vms; }
  [[nodiscard]] const status::RefusedClaims& counts() const { return counts_; }

 private:
  void SeeContainer(const cgroup::Owner& owner, const attribution::Ledger& ledger, const workload::PodMap& pods,
                    BootTime now);
  void SeePod(const cgroup::Owner& owner, const attribution::Ledger& ledger, const workload::PodMap& pods,
              BootTime now);
  /// True for a claim that was not seen in the last tick.
  bool IsNew(std::string_view kind, std::string_view id);
  void Say(std::string_view kind, std::string_view id, BootTime now);

  status::RefusedClaims counts_;
  std::map<std::string, uint64_t, std::less<>> seen_;  // claim → latest tick that saw it
  uint64_t tick_ = 1;
  std::string above_, key_;  // buffers for lookups: a claim costs a tick no allocation
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
