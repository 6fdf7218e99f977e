#include "workload/kubernetes/refresh_plan.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "http/client/retry.h"

namespace kepler::workload::kubernetes {

Nanoseconds RefreshPlan::Jitter(Nanoseconds most) {
  return Nanoseconds(std::uniform_int_distribution<int64_t>(0, most.count())(random_));
}

void RefreshPlan::Begin(BootTime now) {
  begun_ = now;
  next_ = BootTime::max();
}

void RefreshPlan::Succeed(BootTime now, const Knows& knows) {
  failures_ = 0;
  next_ = std::max(begun_ + times_.interval, now) + Jitter(times_.jitter);
  std::set<std::string> named_pods;
  std::erase_if(missed_, [&](const auto& entry) {
    const auto& [id, missed] = entry;
    if (!knows(id)) return missed.is_sandbox && !knows(missed.pod_uid);
    if (id != missed.pod_uid) named_pods.insert(missed.pod_uid);
    return true;
  });
  FindSandboxes(named_pods);
  for (Missed& missed : missed_ | std::views::values) {
    if (missed.is_sandbox || missed.answers >= kMaxAnswers) continue;
    next_ = std::min(next_, now + kMinGap * (1U << missed.answers) + Jitter(kMaxJitter));
    ++missed.answers;
  }
}

void RefreshPlan::FindSandboxes(const std::set<std::string>& named_pods) {
  std::map<std::string_view, std::vector<Missed*>> left;
  for (Missed& missed : missed_ | std::views::values) {
    missed.in_named_pod = missed.in_named_pod || named_pods.contains(missed.pod_uid);
    if (missed.in_named_pod) left[missed.pod_uid].push_back(&missed);
  }
  for (const auto& of_pod : left | std::views::values)
    if (of_pod.size() == 1 && of_pod.front()->answers > 0) of_pod.front()->is_sandbox = true;
}

void RefreshPlan::Fail(BootTime now) {
  // Agents that lost the same server at the same moment do not come back together.
  const http::client::RetryPolicy policy{.first_delay = kFirstDelay, .max_delay = times_.max_delay, .jitter = 0.5};
  next_ = now + policy.Delay(++failures_, std::uniform_real_distribution()(random_));
}

bool RefreshPlan::Miss(std::string_view pod_uid, std::string_view container_id, BootTime now) {
  const std::string_view id = container_id.empty() ? pod_uid : container_id;
  if (missed_.contains(id)) return false;
  if (missed_.size() >= kMaxMissed) missed_.clear();
  missed_.emplace(id, Missed{.pod_uid = std::string(pod_uid)});
  if (failures_ > 0 || next_ == BootTime::max()) return false;
  const BootTime due = std::max(now + kGather, begun_ + kMinGap);
  if (due >= next_) return false;
  next_ = due;
  return true;
}

}  // namespace kepler::workload::kubernetes
