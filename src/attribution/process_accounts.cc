#include "attribution/process_accounts.h"

#include <algorithm>
#include <ranges>

namespace kepler::attribution {

Row ProcessAccounts::OpenLiving(IdentityPtr identity, const Groups& groups, bool kernel_thread, uint32_t uid) {
  const int32_t pid = identity->pid;
  const Row row = OpenAccount(std::move(identity), groups);
  living_pids_[pid] = row;
  kernel_threads_[row] = kernel_thread ? 1 : 0;
  uids_[row] = uid;
  return row;
}

Row ProcessAccounts::OpenEnded(IdentityPtr identity, const Groups& groups) {
  const Row row = OpenAccount(std::move(identity), groups);
  EndLater(row);
  return row;
}

Row ProcessAccounts::OpenAccount(IdentityPtr identity, const Groups& groups) {
  if (const auto twin = FindTerminatedTwin(*identity); twin != terminated_pids_.end()) {
    Depart(twin->second);
    terminated_pids_.erase(twin);
  }
  const Row row = Open(std::move(identity));
  if (row >= groups_.size()) {
    groups_.resize(row + 1);
    kernel_threads_.resize(row + 1);
    uids_.resize(row + 1);
  }
  groups_[row] = groups;
  kernel_threads_[row] = 0;
  uids_[row] = kUnknownUid;
  return row;
}

void ProcessAccounts::Close(Row process) {
  if (keeps(process)) return EndLater(process);
  ForgetLiving(process);
  Depart(process);
}

void ProcessAccounts::EndLater(Row process) {
  ForgetLiving(process);
  ending_.push_back(process);
}

void ProcessAccounts::ForgetLiving(Row process) {
  const auto it = living_pids_.find(identity(process).pid);
  if (it != living_pids_.end() && it->second == process) living_pids_.erase(it);
}

/// There is at most one, because each opening checks this.
auto ProcessAccounts::FindTerminatedTwin(const snapshot::ProcessIdentity& labels) -> TerminatedPids::iterator {
  const auto [begin, end] = terminated_pids_.equal_range(labels.pid);
  const auto it = std::find_if(begin, end, [&](const auto& entry) { return identity(entry.second) == labels; });
  return it == end ? terminated_pids_.end() : it;
}

bool ProcessAccounts::IsReused(const snapshot::ProcessIdentity& labels) {
  const auto living = living_pids_.find(labels.pid);
  return (living != living_pids_.end() && identity(living->second) == labels) ||
         FindTerminatedTwin(labels) != terminated_pids_.end();
}

/// Ends the younger processes first. A process departs if a living or younger process has the same labels.
void ProcessAccounts::EndAll(BootTime now, size_t primary_zone) {
  for (const Row row : std::views::reverse(ending_)) {
    const int32_t pid = identity(row).pid;
    if (IsReused(identity(row)))
      Depart(row);
    else if (End(row, now, primary_zone))
      terminated_pids_.emplace(pid, row);
  }
  ending_.clear();
  Expire(now, primary_zone, [this](Row row) { ForgetTerminated(row); });
}

void ProcessAccounts::ForgetTerminated(Row process) {
  const auto [begin, end] = terminated_pids_.equal_range(identity(process).pid);
  const auto it = std::find_if(begin, end, [&](const auto& entry) { return entry.second == process; });
  if (it != end) terminated_pids_.erase(it);
}

}  // namespace kepler::attribution
