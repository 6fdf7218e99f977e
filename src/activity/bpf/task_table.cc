#include "activity/bpf/task_table.h"

#include <algorithm>
#include <iterator>

#include "activity/bpf/task_labels.h"

namespace kepler::activity::bpf {
namespace {

Nanoseconds Time(const Tally& tally) { return Nanoseconds(static_cast<int64_t>(tally.ran)); }

}  // namespace

void TaskTable::BeginPass(BootTime now) {
  now_ = now;
  ++scan_;
  short_lived_.Age();
  for (const Slot slot : leaving_) {
    processes_[slot].state = State::kFree;
    labels_.Leave(slot);
  }
  free_.insert(free_.end(), leaving_.begin(), leaving_.end());
  leaving_.clear();
  for (const Slot slot : delayed_) processes_[slot].delayed = 0;
  delayed_.clear();
  if (!std::exchange(reported_, false)) {
    // The previous pass failed. Processes that it showed first are known, and may be gone.
    std::ranges::copy_if(shown_, std::back_inserter(listed_), [this](Slot slot) { return labels_[slot].version == 0; });
  }
  shown_.clear();
}

void TaskTable::AddRow(const kepler_task& row) {
  if (latest_ >= processes_.size() || !processes_[latest_].listed() || processes_[latest_].tgid != row.tgid ||
      processes_[latest_].start != row.start) {
    Process* const known = Find(row.tgid);
    if (known != nullptr && known->group == 0) Identify(*known, row.start, row.group);
    // The row is a thread of an older process with a reused pid. The record of that process reports it.
    if (known != nullptr && known->start > row.start) return;
    latest_ = known != nullptr && known->start == row.start ? SlotOf(*known) : Arrive(row);
  }
  Process& process = processes_[latest_];
  if (process.scan != scan_) {
    process.scan = scan_;
    process.live = {};
    process.kernel_sum = row.group_ran_dead;
    shown_.push_back(latest_);
  }
  process.live.Add(row);
  if (IsLeader(row)) labels_.Note(latest_, row);
}

TaskTable::Process* TaskTable::Find(int32_t tgid) {
  const auto found = by_tgid_.find(tgid);
  return found != by_tgid_.end() ? &processes_[found->second] : nullptr;
}

TaskTable::Process* TaskTable::Find(int32_t tgid, uint64_t start) {
  Process* const process = Find(tgid);
  return process != nullptr && process->start == start ? process : nullptr;
}

Slot TaskTable::Arrive(const kepler_task& row) {
  if (const Process* const old = Find(row.tgid)) Replace(SlotOf(*old));
  const Slot slot = TakePlace(processes_, free_);
  Process& process = processes_[slot] = {};
  process.state = State::kLiving;
  process.tgid = row.tgid;
  process.start = row.start;
  process.group = row.group;
  process.dead = short_lived_.TakeThreads(row);
  process.moved = short_lived_.TakeMove(row.tgid, row.start);
  labels_.Arrive(slot, row);
  by_tgid_[row.tgid] = slot;
  return slot;
}

/// Two processes with one pid would be two series with the same labels. The older process ends now. CPU time in its
/// record is later reported as a late remainder.
void TaskTable::Replace(Slot slot) {
  if (!processes_[slot].ended()) LetGoOf(slot);
  replaced_slots_.push_back(slot);
}

void TaskTable::EndPass(ActivitySample& out) {
  reported_ = true;
  moved_.clear();
  const bool first = first_scan_ == 0;
  if (first) first_scan_ = SinceBoot(now_);
  for (const Slot slot : std::exchange(replaced_slots_, {}))
    ReportExit(slot, processes_[slot].ended() ? Give(slot) : Tally{}, out);
  for (const Slot slot : shown_)
    if (processes_[slot].listed()) ReportLiving(slot, !first && Counts(slot), out);
  for (const Slot slot : listed_)
    if (processes_[slot].listed() && processes_[slot].scan != scan_) ReportMissing(slot, out);
  std::erase_if(over_, [this](Slot slot) { return !processes_[slot].listed(); });
  erase_if(let_go_, [this](const auto& entry) { return now_ - entry.second.since > kRemembered; });
  SortByPid(out.processes);
  listed_.clear();
  for (const ProcessSample& process : out.processes) listed_.push_back(process.slot);
  labels_.RefreshDoubted();
  for (ProcessSample& process : out.processes) {
    ProcessLabels::Entry& labels = labels_[process.slot];
    if (labels.stale) RefreshLabels(process.slot);
    process.info = &labels.info;
    process.version = labels.reported = labels.version;
  }
  short_lived_.Report(cgroups_, out);
}

/// Sorts by pid. Most entries already ascend; the exceptions are hidden or missing processes, and wrapped pids of
/// threads. An insertion sort is cheap for a few exceptions. After too many moves, std::sort finishes the work.
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

/// Returns false if the time so far is unattributed: no scan has shown the process, and it is older than the first
/// scan.
bool TaskTable::Counts(Slot slot) const { return labels_[slot].version != 0 || processes_[slot].start >= first_scan_; }

Tally TaskTable::Fresh(const Process& process) {
  Tally now = process.live;
  now.Add(std::max(process.dead.ran, process.kernel_sum), process.dead.events);
  return Above(now, process.given);
}

Tally TaskTable::Give(Slot slot) {
  Process& process = processes_[slot];
  const Tally fresh = Fresh(process);
  if (const RanElsewhere moved = std::exchange(process.moved, {}); moved.ran > 0) {
    // other threads lived on: their CPU time until the move is unknown
    const bool others = moved.ran < process.given.ran;
    const uint64_t before = others ? fresh.ran : std::min(moved.ran - process.given.ran, fresh.ran);
    if (before > 0) moved_.push_back({slot, Nanoseconds(static_cast<int64_t>(before)), moved.from, others});
  }
  process.given.Add(fresh.ran, fresh.events);
  return fresh;
}

void TaskTable::ReportLiving(Slot slot, bool counts, ActivitySample& out) {
  Process& process = processes_[slot];
  if (!process.ended()) process.state = State::kLiving;
  if (!counts) {
    process.dead.ran = std::max(process.dead.ran, process.kernel_sum);
    process.moved = {};
  }
  const Tally fresh = Give(slot);
  const Tally given = counts ? fresh : Tally{};
  out.processes.push_back({.slot = slot, .cpu = Time(given), .events = given.events});
}

void TaskTable::ReportMissing(Slot slot, ActivitySample& out) {
  Process& process = processes_[slot];
  if (process.ended()) {
    const Tally slice = Give(slot);
    if (!process.threaded || scan_ > process.ended_at + 1) return ReportExit(slot, slice, out);
    out.processes.push_back({.slot = slot, .cpu = Time(slice), .events = slice.events});
    return;
  }
  if (std::exchange(process.state, State::kMissing) != State::kMissing) process.missing_since = now_;
  if (now_ - process.missing_since < kMaxDelay) {
    out.processes.push_back({.slot = slot});
    return;
  }
  LetGoOf(slot);
  ReportExit(slot, {}, out);
}

void TaskTable::ReportExit(Slot slot, const Tally& slice, ActivitySample& out) {
  ProcessLabels::Entry& labels = labels_[slot];
  const auto known = by_tgid_.find(processes_[slot].tgid);
  if (known != by_tgid_.end() && known->second == slot) by_tgid_.erase(known);
  leaving_.push_back(slot);
  if (labels.reported == 0) {
    // Only a failed pass has shown the process.
    if (Counts(slot))
      short_lived_.Add(labels.leader, slice, short_lived_.ExecOf(labels.leader.tgid, processes_[slot].start));
    processes_[slot].state = State::kLeaving;
    return;
  }
  if (labels.stale && slice.ran > 0) RefreshLabels(slot);
  processes_[slot].state = State::kLeaving;
  ExitedSample exited{.slot = slot, .cpu = Time(slice), .events = slice.events};
  if (labels.version != labels.reported) {
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
    if (!process.listed() || labels_[slot].reported == 0) continue;
    if (process.ended())
      ReportExit(slot, Give(slot), last);
    else
      living.push_back({labels_[slot].info.key, slot, Time(process.given)});
  }
  short_lived_.Report(cgroups_, last);
  return living;
}

/// If the process is gone, /proc may show another process.
void TaskTable::RefreshLabels(Slot slot) {
  using Life = ProcessLabels::Life;
  const Process& process = processes_[slot];
  const bool seen = process.scan == scan_;
  const Life life = process.ended() ? Life::kEnded : seen ? Life::kLives : Life::kUnseen;
  labels_.Refresh(slot, process.start, life, /*hidden=*/process.group == 0, now_);
}

}  // namespace kepler::activity::bpf
