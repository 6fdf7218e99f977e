#include "activity/bpf/task_table.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "activity/bpf/task_labels.h"

namespace kepler::activity::bpf {
namespace {

Nanoseconds Time(const Tally& tally) { return Nanoseconds(static_cast<int64_t>(tally.ran)); }

uint64_t Above(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

Tally Above(const Tally& now, const Tally& before) {
  return {Above(now.ran, before.ran),
          {Above(now.events.cycles, before.events.cycles), Above(now.events.instructions, before.events.instructions),
           Above(now.events.cache_misses, before.events.cache_misses)}};
}

bool SameLabels(const kepler_task& a, const kepler_task& b) {
  return a.cgroup_v2 == b.cgroup_v2 && a.cgroup_cpuacct == b.cgroup_cpuacct &&
         std::memcmp(a.comm, b.comm, sizeof(a.comm)) == 0;
}

}  // namespace

// --- records --------------------------------------------------------------------------------------------------------

/// The process that a dead thread was in. Its id alone may be in use again already.
TaskTable::Process* TaskTable::Find(const kepler_task& task) {
  const auto found = by_tgid_.find(task.tgid);
  if (found == by_tgid_.end()) return nullptr;
  Process& process = processes_[found->second];
  if (IsLeader(task)) Identify(process, task.start, task.group);
  return process.group == task.group && process.start <= task.start ? &process : nullptr;
}

void TaskTable::AddFreed(const kepler_task& task) {
  Process* const process = Find(task);
  if (process == nullptr || (IsLeader(task) && process->start != task.start)) {
    if (!IsLeader(task)) return briefs_.AddThread(task);
    // Before the first pass it belongs to nobody; so does what was over when that pass began.
    if (first_look_ == 0 || EndLetGo(task) || task.start < first_look_) return;
    return briefs_.End(task, InheritedExe(task));
  }
  if (IsLeader(task)) return EndKnown(static_cast<Slot>(process - processes_.data()), task);
  // What had died before a process was first seen is in the sum that it began with: it cannot be told from what died
  // since, but for a while only.
  const bool in_first_sum = process->start < first_look_ && task.start < first_look_ &&
                            SinceBoot(now_) - first_look_ < static_cast<uint64_t>(kMaxDelay / Nanoseconds(1));
  process->dead.Add(in_first_sum ? 0 : task.ran, Tally::EventsOf(task));
}

void TaskTable::EndKnown(Slot slot, const kepler_task& leader) {
  Process& process = processes_[slot];
  process.dead.Add(leader);
  End(slot, leader.group_ran_dead);
  process.threaded = HadThreads(leader);
  NoteLabels(slot, leader);
}

void TaskTable::End(Slot slot, uint64_t kernel_sum) {
  Process& process = processes_[slot];
  if (!process.ended) over_.push_back(slot);
  process.live = {};
  process.kernel_sum = kernel_sum;
  process.ended = true;
  process.ended_at = look_;
}

bool TaskTable::EndLetGo(const kepler_task& leader) {
  const auto found = FindLetGo(leader.tgid, leader.start);
  if (found == let_go_.end()) return false;
  LetGo& process = found->second;
  process.dead.Add(leader);
  process.dead.ran = std::max<uint64_t>(process.dead.ran, leader.group_ran_dead);
  const Tally rest = Above(process.dead, process.given);
  if (process.told)
    briefs_.AddRest(leader, rest, process.exe);
  else
    briefs_.Add(leader, rest, process.exe);
  let_go_.erase(found);
  return true;
}

Nanoseconds TaskTable::AddDropped(const kepler_dropped& dropped) {
  const auto known = by_tgid_.find(dropped.tgid);
  if (known != by_tgid_.end()) Identify(processes_[known->second], dropped.start, /*group=*/0);
  if (known != by_tgid_.end() && processes_[known->second].start == dropped.start) {
    End(known->second, dropped.ran);
    return {};
  }
  uint64_t given = 0;
  if (const auto gone = FindLetGo(dropped.tgid, dropped.start); gone != let_go_.end()) {
    given = gone->second.given.ran;
    let_go_.erase(gone);
  } else if (first_look_ == 0 || dropped.start < first_look_) {
    return {};
  }
  briefs_.Drop(dropped.tgid);
  const Nanoseconds lost(static_cast<int64_t>(Above(dropped.ran, given)));
  lost_ += lost;
  return lost;
}

void TaskTable::AddExec(int32_t tgid, uint64_t start, std::string_view path) {
  briefs_.AddExec(tgid, start, path);
  const auto known = by_tgid_.find(tgid);
  if (known == by_tgid_.end() || processes_[known->second].start != start) return;
  labels_[known->second].stale = true;
  labels_[known->second].read_exe = true;
}

void TaskTable::AddMove(int32_t tgid, uint64_t start, const RanElsewhere& before) {
  const auto known = by_tgid_.find(tgid);
  if (known != by_tgid_.end() && processes_[known->second].start == start)
    processes_[known->second].moved = before;
  else if (first_look_ != 0 && start >= first_look_)
    briefs_.AddMove(tgid, start, before);
}

void TaskTable::AddExecutable(int32_t tgid, uint64_t start, std::string_view path) {
  const auto known = by_tgid_.find(tgid);
  if (known != by_tgid_.end() && processes_[known->second].start == start) AddExec(tgid, start, path);
}

void TaskTable::DoubtExes() {
  if (doubted_.empty()) doubted_ = listed_;
}

/// A child that executed nothing still runs what its parent runs, unless the parent has changed since: then their names
/// differ.
std::string_view TaskTable::InheritedExe(const kepler_task& child) const {
  const std::string_view comm = CommOf(child);
  if (const std::string_view executed = briefs_.ExecOf(child.parent_tgid); !executed.empty()) {
    const std::string_view name = executed.substr(executed.rfind('/') + 1);
    return name.substr(0, KEPLER_COMM_BYTES - 1) == comm ? executed : std::string_view();
  }
  const auto parent = by_tgid_.find(child.parent_tgid);
  if (parent == by_tgid_.end()) return {};
  const os::ProcessInfo& info = labels_[parent->second].info;
  return info.comm == comm ? std::string_view(info.exe) : std::string_view();
}

// --- the pass -------------------------------------------------------------------------------------------------------

void TaskTable::BeginPass(BootTime now) {
  now_ = now;
  ++look_;
  briefs_.Age();
  free_.insert(free_.end(), leaving_.begin(), leaving_.end());
  leaving_.clear();
  if (!std::exchange(told_, false)) {
    // The previous pass failed: those that it showed first are known, and may be gone.
    std::ranges::copy_if(shown_, std::back_inserter(listed_), [this](Slot slot) { return labels_[slot].version == 0; });
  }
  shown_.clear();
}

void TaskTable::AddRow(const kepler_task& row) {
  if (latest_ >= processes_.size() || processes_[latest_].tgid != row.tgid || processes_[latest_].start != row.start) {
    const auto known = by_tgid_.find(row.tgid);
    if (known != by_tgid_.end() && processes_[known->second].group == 0)
      Identify(processes_[known->second], row.start, row.group);
    if (known != by_tgid_.end() && processes_[known->second].start == row.start)
      latest_ = known->second;
    else if (known != by_tgid_.end() && processes_[known->second].start > row.start)
      return;  // the rest of a process whose pid is in use again: its record tells
    else
      latest_ = Arrive(row);
  }
  Process& process = processes_[latest_];
  if (process.look != look_) {
    process.look = look_;
    process.live = {};
    process.kernel_sum = row.group_ran_dead;
    shown_.push_back(latest_);
  }
  process.live.Add(row);
  if (IsLeader(row)) NoteLabels(latest_, row);
}

Slot TaskTable::Arrive(const kepler_task& row) {
  if (const auto old = by_tgid_.find(row.tgid); old != by_tgid_.end()) Replace(old->second);
  Slot slot = 0;
  if (free_.empty()) {
    slot = static_cast<Slot>(processes_.size());
    processes_.emplace_back();
    labels_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Process& process = processes_[slot] = {};
  process.tgid = row.tgid;
  process.start = row.start;
  process.group = row.group;
  process.dead = briefs_.TakeThreads(row);
  process.moved = briefs_.TakeMove(row.tgid, row.start);
  Labels& labels = labels_[slot];
  labels.leader = row;
  labels.info.key = KeyOf(row.tgid, row.start);
  labels.stale = labels.read_exe = true;
  labels.version = labels.told = 0;
  labels.info.comm.clear();
  labels.info.exe.clear();
  labels.info.cgroup = nullptr;
  by_tgid_[row.tgid] = slot;
  return slot;
}

/// Two processes of one pid would be two series with the same labels: the older one ends now, and what its record says
/// when it comes is told as a rest.
void TaskTable::Replace(Slot slot) {
  if (!processes_[slot].ended) LetGoOf(slot);
  replaced_slots_.push_back(slot);
}

void TaskTable::LetGoOf(Slot slot) {
  const Process& process = processes_[slot];
  const Labels& labels = labels_[slot];
  let_go_[{process.tgid, process.start}] = {process.dead, process.given, labels.info.exe, now_, labels.told != 0};
}

void TaskTable::NoteLabels(Slot slot, const kepler_task& leader) {
  Labels& labels = labels_[slot];
  if (labels.version != 0 && SameLabels(labels.leader, leader)) return;
  // A name changes with what is executed, even where nobody tells of that.
  labels.read_exe |= std::memcmp(labels.leader.comm, leader.comm, sizeof(leader.comm)) != 0;
  labels.leader = leader;
  labels.stale = true;
}

void TaskTable::EndPass(ActivitySample& out) {
  told_ = true;
  moved_.clear();
  const bool first = first_look_ == 0;
  if (first) first_look_ = SinceBoot(now_);
  for (const Slot slot : std::exchange(replaced_slots_, {})) {
    TellExit(slot, processes_[slot].ended ? Give(slot) : Tally{}, out);
  }
  for (const Slot slot : shown_)
    if (processes_[slot].tgid != 0) TellLiving(slot, !first && Counts(slot), out);
  for (const Slot slot : listed_)
    if (processes_[slot].tgid != 0 && processes_[slot].look != look_) TellMissing(slot, out);
  std::erase_if(over_, [this](Slot slot) { return processes_[slot].tgid == 0; });
  erase_if(let_go_, [this](const auto& entry) { return now_ - entry.second.since > kRemembered; });
  SortByPid(out.processes);
  listed_.clear();
  for (const ProcessSample& process : out.processes) listed_.push_back(process.slot);
  RefreshDoubted();
  for (ProcessSample& process : out.processes) {
    Labels& labels = labels_[process.slot];
    if (labels.stale) RefreshLabels(process.slot);
    process.info = &labels.info;
    process.version = labels.told = labels.version;
  }
  briefs_.Tell(cgroups_, out);
}

/// They ascend already, but for a few that are hidden or closing, and where pids have wrapped around among threads:
/// each of those is put where it belongs. That is much for std::sort, and little work as long as they are few.
void TaskTable::SortByPid(std::vector<ProcessSample>& processes) const {
  const auto pid = [this](const ProcessSample& process) { return processes_[process.slot].tgid; };
  size_t moves_left = 32 * processes.size();
  for (size_t i = 1; i < processes.size(); ++i) {
    const ProcessSample process = processes[i];
    const int32_t own = pid(process);
    size_t to = i;
    for (; to > 0 && pid(processes[to - 1]) > own; --to) processes[to] = processes[to - 1];
    processes[to] = process;
    if (i - to > moves_left) return static_cast<void>(std::ranges::sort(processes, {}, pid));
    moves_left -= i - to;
  }
}

/// Otherwise what it used so far belongs to nobody: no look has shown it, and it is older than the first one.
bool TaskTable::Counts(Slot slot) const { return labels_[slot].version != 0 || processes_[slot].start >= first_look_; }

Tally TaskTable::Fresh(const Process& process) {
  Tally now = process.live;
  now.Add(std::max(process.dead.ran, process.kernel_sum), process.dead.events);
  return Above(now, process.given);
}

Tally TaskTable::Give(Slot slot) {
  Process& process = processes_[slot];
  const Tally fresh = Fresh(process);
  if (const RanElsewhere moved = std::exchange(process.moved, {}); moved.ran > 0) {
    const bool others = moved.ran < process.given.ran;  // threads that lived on: what they ran by then is not known
    const uint64_t before = others ? fresh.ran : std::min(moved.ran - process.given.ran, fresh.ran);
    if (before > 0) moved_.push_back({slot, Nanoseconds(static_cast<int64_t>(before)), moved.from, others});
  }
  process.given.Add(fresh.ran, fresh.events);
  return fresh;
}

void TaskTable::TellLiving(Slot slot, bool counts, ActivitySample& out) {
  Process& process = processes_[slot];
  process.missing_since = {};
  if (!counts) process.dead.ran = std::max(process.dead.ran, process.kernel_sum);
  if (!counts) process.moved = {};
  const Tally fresh = Give(slot);
  out.processes.push_back({.slot = slot,
                           .info = nullptr,
                           .version = 0,
                           .cpu = counts ? Time(fresh) : Nanoseconds{0},
                           .events = counts ? fresh.events : HardwareEvents{}});
}

void TaskTable::TellMissing(Slot slot, ActivitySample& out) {
  Process& process = processes_[slot];
  if (process.ended) {
    const Tally slice = Give(slot);
    if (!process.threaded || look_ > process.ended_at + 1) return TellExit(slot, slice, out);
    out.processes.push_back({.slot = slot, .info = nullptr, .version = 0, .cpu = Time(slice), .events = slice.events});
    return;
  }
  if (process.missing_since == BootTime{}) process.missing_since = now_;
  if (now_ - process.missing_since < kMaxDelay) {
    out.processes.push_back({.slot = slot, .info = nullptr, .version = 0, .cpu = Nanoseconds{0}, .events = {}});
    return;
  }
  LetGoOf(slot);
  TellExit(slot, {}, out);
}

void TaskTable::TellExit(Slot slot, const Tally& slice, ActivitySample& out) {
  Labels& labels = labels_[slot];
  const auto known = by_tgid_.find(processes_[slot].tgid);
  if (known != by_tgid_.end() && known->second == slot) by_tgid_.erase(known);
  leaving_.push_back(slot);
  if (labels.told == 0) {
    // Only a pass that failed has shown it.
    if (Counts(slot)) briefs_.Add(labels.leader, slice, briefs_.ExecOf(labels.leader.tgid, processes_[slot].start));
    processes_[slot].tgid = 0;
    return;
  }
  if (labels.stale && slice.ran > 0) RefreshLabels(slot);
  processes_[slot].tgid = 0;
  ExitedSample exited{.slot = slot, .cpu = Time(slice), .events = slice.events};
  if (labels.version != labels.told) {
    exited.info = &labels.info;
    exited.version = labels.version;
  }
  out.exited.push_back(exited);
}

std::vector<Handover::Process> TaskTable::HandOver(ActivitySample& last) {
  std::vector<Handover::Process> living;
  living.reserve(listed_.size());
  for (const Slot slot : listed_) {
    const Process& process = processes_[slot];
    if (process.tgid == 0 || labels_[slot].told == 0) continue;
    if (process.ended)
      TellExit(slot, Give(slot), last);
    else
      living.push_back({labels_[slot].info.key, slot, Time(process.given)});
  }
  briefs_.Tell(cgroups_, last);
  return living;
}

// --- labels ---------------------------------------------------------------------------------------------------------

void TaskTable::RefreshLabels(Slot slot) {
  Labels& labels = labels_[slot];
  os::ProcessInfo& info = labels.info;
  const bool same_name = labels.version != 0 && info.comm == CommOf(labels.leader);
  bool changed = !same_name;
  info.comm = CommOf(labels.leader);
  info.kernel_thread = IsKernelThread(labels.leader);
  if (labels.read_exe && !info.kernel_thread) changed |= RefreshExe(slot, same_name);
  // Of one that is gone /proc may show somebody else.
  const bool lives = processes_[slot].look == look_ && !processes_[slot].ended;
  CgroupDirectory::Fallback ask;
  if (lives) ask = [this, tgid = labels.leader.tgid] { return files_.Cgroups(tgid, now_); };
  const uint32_t membership = cgroups_.Find({labels.leader.cgroup_v2, labels.leader.cgroup_cpuacct}, ask);
  if (info.cgroup != cgroups_[membership]) {
    changed |= info.cgroup == nullptr || info.cgroup->lines != cgroups_[membership]->lines;
    info.cgroup = cgroups_[membership];
  }
  if (changed) ++labels.version;
  labels.stale = false;
}

bool TaskTable::RefreshExe(Slot slot, bool same_name) {
  Labels& labels = labels_[slot];
  const Process& process = processes_[slot];
  labels.read_exe = false;
  std::string_view exe =
      process.ended ? std::string_view() : files_.Exe(process.tgid, now_, /*kernel_tells=*/process.group != 0);
  const std::string_view executed = briefs_.ExecOf(process.tgid, process.start);
  // What was given to exec is not resolved (python3 for python3.11): where the name is the same, so is the program.
  const bool keep = process.ended && same_name && !labels.info.exe.empty();
  if (exe.empty() && !keep) exe = executed;
  // One that is dying has lost its file: what it was stays, unless it is known that it became something else.
  const bool changed = !exe.empty() && labels.info.exe != exe;
  if (changed) labels.info.exe = exe;
  if (!executed.empty()) briefs_.ForgetExec(process.tgid);
  return changed;
}

void TaskTable::RefreshDoubted() {
  for (size_t left = std::min(kMaxDoubts, doubted_.size()); left > 0; --left) {
    Labels& labels = labels_[doubted_.back()];
    labels.stale = labels.read_exe = true;
    doubted_.pop_back();
  }
}

}  // namespace kepler::activity::bpf
