#include "workload/read_budget.h"

#include <algorithm>

namespace kepler::workload {

void ReadBudget::BeginScan(BootTime now) {
  left_ = limits_.of_scan;
  for (auto& [name, payer] : payers_) payer.used = {};
  std::erase_if(payers_, [&](const auto& entry) { return now - entry.second.paused_until > kLongestPause; });
}

std::string_view ReadBudget::Refusal(const std::string& payer, BootTime now) const {
  if (left_ <= Nanoseconds::zero()) return "the read time of this scan is used up";
  const auto it = payers_.find(payer);
  if (it == payers_.end()) return "";
  if (now < it->second.paused_until) return "an earlier read of its unit was slow";
  if (it->second.used >= limits_.of_payer) return "the read time of its unit is used up";
  return "";
}

void ReadBudget::Charge(const std::string& name, Nanoseconds in_all, Nanoseconds by_payer, BootTime now) {
  left_ -= in_all;
  if (payers_.size() >= kMaxPayers && !payers_.contains(name)) payers_.clear();
  Payer& payer = payers_[name];
  payer.used += by_payer;
  if (by_payer < limits_.slow) return;
  payer.pause = std::clamp<Nanoseconds>(2 * payer.pause, kFirstPause, kLongestPause);
  payer.paused_until = now + payer.pause;
}

}  // namespace kepler::workload
