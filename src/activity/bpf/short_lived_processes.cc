#include "activity/bpf/short_lived_processes.h"

#include <algorithm>
#include <cstring>

#include "activity/bpf/task_labels.h"

namespace kepler::activity::bpf {

void ShortLivedProcesses::AddThread(const kepler_task& task) {
  // The records of the leaders contain the kernel's own sum, which lacks a few microseconds.
  if (threads_.size() >= kMaxPending) threads_.clear();
  Threads& threads = threads_[{task.group, task.tgid}];
  threads.tally.Add(task);
  threads.earliest = std::min<uint64_t>(threads.earliest, task.start);
  threads.scan = scan_;
}

Tally ShortLivedProcesses::TakeThreads(const kepler_task& process) {
  const auto found = threads_.find({process.group, process.tgid});
  if (found == threads_.end()) return {};
  const Threads threads = found->second;
  threads_.erase(found);
  // The threads may belong to an earlier process with the same group. A thread is never older than its process.
  return threads.earliest >= process.start ? threads.tally : Tally{};
}

void ShortLivedProcesses::AddExec(int32_t tgid, uint64_t start, std::string_view path) {
  if (execs_.size() >= kMaxPending) execs_.clear();  // labels only
  Exec& exec = execs_[tgid];
  exec.start = start;
  exec.path = path;
  exec.scan = scan_;
}

std::string_view ShortLivedProcesses::ExecOf(int32_t tgid) const {
  const auto found = execs_.find(tgid);
  return found == execs_.end() ? std::string_view() : std::string_view(found->second.path);
}

std::string_view ShortLivedProcesses::ExecOf(int32_t tgid, uint64_t start) const {
  const auto found = execs_.find(tgid);
  if (found == execs_.end() || found->second.start != start) return {};
  return found->second.path;
}

void ShortLivedProcesses::AddMove(int32_t tgid, uint64_t start, const RanElsewhere& move) {
  if (moves_.size() >= kMaxPending) moves_.clear();
  moves_[tgid] = {start, move, scan_};
}

RanElsewhere ShortLivedProcesses::TakeMove(int32_t tgid, uint64_t start) {
  const auto found = moves_.find(tgid);
  if (found == moves_.end()) return {};
  const Move move = found->second;
  moves_.erase(found);
  return move.start == start ? move.move : RanElsewhere{};
}

void ShortLivedProcesses::End(const kepler_task& leader, std::string_view exe) {
  Tally records = TakeThreads(leader);
  const bool threaded = records.ran > 0 || HadThreads(leader);
  records.Add(leader);
  // Records of threads may be dropped, or may arrive after the leader's record.
  Tally tally = records;
  tally.ran = std::max<uint64_t>(tally.ran, leader.group_ran_dead);
  const std::string_view executed = ExecOf(leader.tgid, leader.start);
  if (!executed.empty()) exe = executed;
  Add(leader, tally, exe);
  if (threaded && threaded_.size() < kMaxPending)
    threaded_.push_back({leader, tally, std::string(exe), records, false});
  ForgetExec(leader.tgid);
}

void ShortLivedProcesses::AddDelayedThreads() {
  for (std::vector<ShortLived>* const ended : {&waiting_, &threaded_}) {
    for (ShortLived& process : *ended) {
      const Tally delayed = TakeThreads(process.leader);
      if (delayed.ran == 0) continue;
      process.records.Add(delayed.ran, delayed.events);
      const uint64_t ran = Above(process.records.ran, process.tally.ran);
      process.tally.ran += ran;
      Add(process.leader, {ran, delayed.events}, process.exe, /*late_remainder=*/true);
    }
  }
}

void ShortLivedProcesses::Add(const kepler_task& leader, const Tally& slice, std::string_view exe,
                              bool late_remainder) {
  if (fresh_.size() >= kMaxPending) {
    ++unheld_;
    unheld_time_ += Nanoseconds(static_cast<int64_t>(slice.ran));
    return;
  }
  RanElsewhere moved = late_remainder ? RanElsewhere{} : TakeMove(leader.tgid, leader.start);
  moved.ran = std::min(moved.ran, slice.ran);
  fresh_.push_back({leader, slice, std::string(exe), {}, late_remainder, moved});
}

void ShortLivedProcesses::Report(CgroupDirectory& cgroups, ActivitySample& out) {
  AddDelayedThreads();
  waiting_.clear();
  waiting_.swap(threaded_);
  reported_.swap(fresh_);
  fresh_.clear();
  for (const ShortLived& process : reported_) {
    const cgroup::MembershipPtr& membership = cgroups.Find({process.leader.cgroup_v2, process.leader.cgroup_cpuacct});
    out.short_lived.push_back({.key = KeyOf(process.leader.tgid, process.leader.start),
                               .comm = CommOf(process.leader),
                               .exe = process.exe,
                               .uid = process.leader.uid,
                               .cgroups = membership.get(),
                               .cpu = Nanoseconds(static_cast<int64_t>(process.tally.ran)),
                               .events = process.tally.events,
                               .late_remainder = process.late_remainder});
  }
}

void ShortLivedProcesses::Age() {
  ++scan_;
  const auto is_old = [this](const auto& entry) { return scan_ - entry.second.scan > kMaxScans; };
  erase_if(threads_, is_old);
  erase_if(execs_, is_old);
  erase_if(moves_, is_old);
}

}  // namespace kepler::activity::bpf
