// TaskTable: handles records between two passes, and processes that the kernel hides from BPF (hidden_processes.h).
#include <algorithm>

#include "activity/bpf/task_labels.h"
#include "activity/bpf/task_table.h"

namespace kepler::activity::bpf {

/// Returns the process of a dead thread. The id alone may already be reused.
TaskTable::Process* TaskTable::FindOfThread(const kepler_task& task) {
  Process* const process = Find(task.tgid);
  if (process == nullptr) return nullptr;
  if (IsLeader(task)) Identify(*process, task.start, task.group);
  return process->group == task.group && process->start <= task.start ? process : nullptr;
}

void TaskTable::AddFreed(const kepler_task& task) {
  Process* const process = FindOfThread(task);
  if (process == nullptr || (IsLeader(task) && process->start != task.start)) {
    if (!IsLeader(task)) return short_lived_.AddThread(task);
    // Time from before the first pass is unattributed, and so is a process that ended before that pass began.
    if (first_scan_ == 0 || EndLetGo(task) || task.start < first_scan_) return;
    return short_lived_.End(task, InheritedExe(task));
  }
  if (IsLeader(task)) return EndKnown(SlotOf(*process), task);
  // The initial sum contains the threads that died before the process was first seen. For a short time, they cannot be
  // distinguished from threads that died later.
  const bool in_first_sum = process->start < first_scan_ && task.start < first_scan_ &&
                            SinceBoot(now_) - first_scan_ < static_cast<uint64_t>(kMaxDelay / Nanoseconds(1));
  process->dead.Add(in_first_sum ? 0 : task.ran, Tally::EventsOf(task));
  if (task.ran == 0 || task.start >= SinceBoot(now_)) return;
  if (process->delayed == 0) delayed_.push_back(SlotOf(*process));
  process->delayed += task.ran;
}

void TaskTable::EndKnown(Slot slot, const kepler_task& leader) {
  Process& process = processes_[slot];
  process.dead.Add(leader);
  End(slot, leader.group_ran_dead);
  process.threaded = HadThreads(leader);
  labels_.Note(slot, leader);
}

void TaskTable::End(Slot slot, uint64_t kernel_sum) {
  Process& process = processes_[slot];
  if (!process.ended()) over_.push_back(slot);
  process.live = {};
  process.kernel_sum = kernel_sum;
  process.state = State::kEnded;
  process.ended_at = scan_;
}

bool TaskTable::EndLetGo(const kepler_task& leader) {
  const auto found = FindLetGo(leader.tgid, leader.start);
  if (found == let_go_.end()) return false;
  LetGo& process = found->second;
  process.dead.Add(leader);
  process.dead.ran = std::max<uint64_t>(process.dead.ran, leader.group_ran_dead);
  const Tally remainder = Above(process.dead, process.given);
  short_lived_.Add(leader, remainder, process.exe, /*late_remainder=*/process.reported);
  let_go_.erase(found);
  return true;
}

Nanoseconds TaskTable::AddDropped(const kepler_dropped& dropped) {
  if (Process* const known = Find(dropped.tgid)) Identify(*known, dropped.start, /*group=*/0);
  if (const Process* const known = Find(dropped.tgid, dropped.start)) {
    End(SlotOf(*known), dropped.ran);
    return {};
  }
  uint64_t given = 0;
  if (const auto gone = FindLetGo(dropped.tgid, dropped.start); gone != let_go_.end()) {
    given = gone->second.given.ran;
    let_go_.erase(gone);
  } else if (first_scan_ == 0 || dropped.start < first_scan_) {
    return {};
  }
  short_lived_.ForgetExec(dropped.tgid);
  const Nanoseconds lost(static_cast<int64_t>(Above(dropped.ran, given)));
  lost_ += lost;
  return lost;
}

void TaskTable::AddExec(int32_t tgid, uint64_t start, std::string_view path) {
  short_lived_.AddExec(tgid, start, path);
  if (const Process* const known = Find(tgid, start)) labels_.DoubtExe(SlotOf(*known));
}

void TaskTable::AddMove(int32_t tgid, uint64_t start, const RanElsewhere& before) {
  if (Process* const known = Find(tgid, start))
    known->moved = before;
  else if (first_scan_ != 0 && start >= first_scan_)
    short_lived_.AddMove(tgid, start, before);
}

void TaskTable::AddExecutable(int32_t tgid, uint64_t start, std::string_view path) {
  if (Find(tgid, start) != nullptr) AddExec(tgid, start, path);
}

/// A child that executed no program runs its parent's program, unless the parent has executed another program since.
/// The names then differ.
std::string_view TaskTable::InheritedExe(const kepler_task& child) const {
  const std::string_view comm = CommOf(child);
  if (const std::string_view executed = short_lived_.ExecOf(child.parent_tgid); !executed.empty()) {
    const std::string_view name = executed.substr(executed.rfind('/') + 1);
    return name.substr(0, KEPLER_COMM_BYTES - 1) == comm ? executed : std::string_view();
  }
  const auto parent = by_tgid_.find(child.parent_tgid);
  if (parent == by_tgid_.end()) return {};
  const cgroup::ProcessInfo& info = labels_[parent->second].info;
  return info.comm == comm ? std::string_view(info.exe) : std::string_view();
}

void TaskTable::LetGoOf(Slot slot) {
  const Process& process = processes_[slot];
  const ProcessLabels::Entry& labels = labels_[slot];
  let_go_[{process.tgid, process.start}] = {process.dead, process.given, labels.info.exe, now_, labels.reported != 0};
}

bool TaskTable::Shows(int32_t tgid) {
  const Process* const known = Find(tgid);
  return known != nullptr && known->scan == scan_;
}

void TaskTable::AddHidden(const kepler_task& row) {
  const Process* const known = Find(row.tgid);
  const bool is_known = known != nullptr && WholeTicks(known->start) == row.start;
  if (is_known && known->ended()) return;
  const Slot slot = is_known ? SlotOf(*known) : Arrive(row);
  Process& process = processes_[slot];
  if (!is_known) process.given.ran = row.ran;
  process.scan = scan_;
  // The process clock includes dead threads that records may already have reported.
  process.live = {row.ran - std::min<uint64_t>(row.ran, process.dead.ran), {}};
  process.kernel_sum = 0;
  shown_.push_back(slot);
  labels_.Note(slot, row);
}

void TaskTable::EndHidden(int32_t tgid) {
  const Process* const known = Find(tgid);
  if (known == nullptr || known->ended()) return;
  LetGoOf(SlotOf(*known));
  End(SlotOf(*known), known->given.ran);
}

/// The kernel now reports a hidden process.
void TaskTable::Identify(Process& process, uint64_t start, uint64_t group) {
  if (process.group != 0 || process.start != WholeTicks(start)) return;
  process.start = start;
  process.group = group;
}

TaskTable::LetGos::iterator TaskTable::FindLetGo(int32_t tgid, uint64_t start) {
  const auto found = let_go_.find({tgid, start});
  return found != let_go_.end() ? found : let_go_.find({tgid, WholeTicks(start)});  // the process was hidden
}

}  // namespace kepler::activity::bpf
