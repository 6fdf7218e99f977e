#include "workload/kubernetes/refresh_plan.h"

#include <algorithm>

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
  std::erase_if(missed_, [&](const auto& missed) { return knows(missed.first); });
  for (auto& [id, answers] : missed_) {
    if (answers >= kMaxAnswers) continue;
    next_ = std::min(next_, now + kMinGap * (1U << answers) + Jitter(kGather));
    ++answers;
  }
}

void RefreshPlan::Fail(BootTime now) {
  constexpr unsigned kMaxDoublings = 6;
  const Nanoseconds step = kFirstBackOff * (1U << std::min(failures_++, kMaxDoublings));
  const Nanoseconds pause = std::min(step, times_.max_back_off);
  // Who lost the same server at the same moment does not come back together.
  next_ = now + pause / 2 + Jitter(pause * 3 / 2);
}

bool RefreshPlan::Miss(std::string_view id, BootTime now) {
  if (missed_.contains(id)) return false;
  if (missed_.size() >= kMaxMissed) missed_.clear();
  missed_.emplace(id, 0);
  if (failures_ > 0 || next_ == BootTime::max()) return false;
  const BootTime due = std::max(now + kGather + Jitter(kGather), begun_ + kMinGap);
  if (due >= next_) return false;
  next_ = due;
  return true;
}

}  // namespace kepler::workload::kubernetes
