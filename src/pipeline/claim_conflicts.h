#pragma once
// ClaimConflicts: claims of ids that somebody with a better right to them has, counted and said. A cgroup's claim of a
// container or pod is refused by giving it an id of its own (cgroup/owner.h); here is only seen that it would have been
// another's. Collection thread only.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "attribution/ledger.h"
#include "base/clock.h"
#include "base/log.h"
#include "cgroup/owner.h"
#include "snapshot/status.h"
#include "workload/pod_directory.h"

namespace kepler::pipeline {

class ClaimConflicts {
 public:
  /// `owner` owns a cgroup in this tick. Free of cost unless somebody below the machine claims it.
  void See(const cgroup::Owner& owner, const attribution::Ledger& ledger, const workload::PodMap& pods, BootTime now) {
    if (owner.container && !cgroup::AuthorityOf(owner.container->id).empty()) SeeContainer(owner, ledger, pods, now);
    if (!cgroup::AuthorityOf(owner.pod_uid).empty()) SeePod(owner, ledger, pods, now);
  }
  /// Claims that nobody has made in this tick are over: made again, they count again.
  void EndTick();
  void CountVm() { ++counts_.vms; }
  [[nodiscard]] const snapshot::RefusedClaims& counts() const { return counts_; }

 private:
  void SeeContainer(const cgroup::Owner& owner, const attribution::Ledger& ledger, const workload::PodMap& pods,
                    BootTime now);
  void SeePod(const cgroup::Owner& owner, const attribution::Ledger& ledger, const workload::PodMap& pods,
              BootTime now);
  /// True the first time.
  bool IsNew(std::string_view kind, std::string_view id);
  void Say(std::string_view kind, std::string_view id, BootTime now);

  snapshot::RefusedClaims counts_;
  std::map<std::string, uint64_t, std::less<>> seen_;  // the tick that saw a claim last
  uint64_t tick_ = 1;
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
