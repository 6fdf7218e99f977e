// TaskTable: processes that the kernel does not show to BPF (hidden_processes.h).
#include <algorithm>

#include "activity/bpf/task_labels.h"
#include "activity/bpf/task_table.h"

namespace kepler::activity::bpf {

bool TaskTable::Shows(int32_t tgid) const {
  const auto known = by_tgid_.find(tgid);
  return known != by_tgid_.end() && processes_[known->second].scan == scan_;
}

void TaskTable::AddHidden(const kepler_task& row) {
  const auto known = by_tgid_.find(row.tgid);
  const bool is_known = known != by_tgid_.end() && WholeTicks(processes_[known->second].start) == row.start;
  if (is_known && processes_[known->second].ended()) return;
  const Slot slot = is_known ? known->second : Arrive(row);
  Process& process = processes_[slot];
  if (!is_known) process.given.ran = row.ran;
  process.scan = scan_;
  // The clock of the process has its dead threads, which records may have reported.
  process.live = {row.ran - std::min<uint64_t>(row.ran, process.dead.ran), {}};
  process.kernel_sum = 0;
  shown_.push_back(slot);
  labels_.Note(slot, row);
}

void TaskTable::EndHidden(int32_t tgid) {
  const auto known = by_tgid_.find(tgid);
  if (known == by_tgid_.end() || processes_[known->second].ended()) return;
  LetGoOf(known->second);
  End(known->second, processes_[known->second].given.ran);
}

/// A hidden process that the kernel reports after all.
void TaskTable::Identify(Process& process, uint64_t start, uint64_t group) {
  if (process.group != 0 || process.start != WholeTicks(start)) return;
  process.start = start;
  process.group = group;
}

TaskTable::LetGos::iterator TaskTable::FindLetGo(int32_t tgid, uint64_t start) {
  const auto found = let_go_.find({tgid, start});
  return found != let_go_.end() ? found : let_go_.find({tgid, WholeTicks(start)});  // it was hidden
}

}  // namespace kepler::activity::bpf
