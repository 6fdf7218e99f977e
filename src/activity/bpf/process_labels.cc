#include "activity/bpf/process_labels.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "activity/bpf/task_labels.h"

namespace kepler::activity::bpf {
namespace {

bool SameLabels(const kepler_task& a, const kepler_task& b) {
  return a.cgroup_v2 == b.cgroup_v2 && a.cgroup_cpuacct == b.cgroup_cpuacct && a.uid == b.uid &&
         IsKernelThread(a) == IsKernelThread(b) && std::memcmp(a.comm, b.comm, sizeof(a.comm)) == 0;
}

}  // namespace

void ProcessLabels::Arrive(Slot slot, const kepler_task& row) {
  if (slot >= entries_.size()) entries_.resize(slot + 1);
  Entry& entry = entries_[slot];
  entry.leader = row;
  entry.info.key = KeyOf(row.tgid, row.start);
  entry.stale = entry.read_exe = true;
  entry.version = entry.reported = 0;
  entry.info.comm.clear();
  entry.info.exe.clear();
  entry.info.cgroup = nullptr;
}

void ProcessLabels::Note(Slot slot, const kepler_task& leader) {
  Entry& entry = entries_[slot];
  if (entry.version != 0 && SameLabels(entry.leader, leader)) return;
  // A process changes its name when it executes a program, even if no exec record arrives.
  entry.read_exe |= std::memcmp(entry.leader.comm, leader.comm, sizeof(leader.comm)) != 0;
  entry.leader = leader;
  entry.stale = true;
}

void ProcessLabels::Refresh(Slot slot, uint64_t start, Life life, bool hidden, BootTime now) {
  Entry& entry = entries_[slot];
  cgroup::ProcessInfo& info = entry.info;
  const bool same_name = entry.version != 0 && info.comm == CommOf(entry.leader);
  bool changed = !same_name || info.uid != entry.leader.uid;
  info.comm = CommOf(entry.leader);
  info.uid = entry.leader.uid;
  info.kernel_thread = IsKernelThread(entry.leader);
  if (entry.read_exe && !info.kernel_thread) changed |= RefreshExe(entry, start, life, hidden, same_name, now);
  const auto read = [&] { return files_.Cgroups(entry.leader.tgid, now); };
  CgroupDirectory::Fallback ask;
  if (life == Life::kLives) ask = std::ref(read);  // a reference wrapper, so no allocation
  const cgroup::MembershipPtr& membership = cgroups_.Find({entry.leader.cgroup_v2, entry.leader.cgroup_cpuacct}, ask);
  if (info.cgroup != membership) {
    changed |= info.cgroup == nullptr || info.cgroup->lines != membership->lines;
    info.cgroup = membership;
  }
  if (changed) ++entry.version;
  entry.stale = false;
}

bool ProcessLabels::RefreshExe(Entry& entry, uint64_t start, Life life, bool hidden, bool same_name, BootTime now) {
  entry.read_exe = false;
  const int32_t tgid = entry.info.key.tgid;
  const bool ended = life == Life::kEnded;
  std::string_view exe = ended ? std::string_view() : files_.Exe(tgid, now, /*kernel_reports=*/!hidden);
  const std::string_view executed = short_lived_.ExecOf(tgid, start);
  // The path given to exec is not resolved (python3 for python3.11). If the name is unchanged, the program is unchanged
  // too.
  const bool keep = ended && same_name && !entry.info.exe.empty();
  if (exe.empty() && !keep) exe = executed;
  // A dying process has lost its exe. The old path stays, unless the process is known to have executed another program.
  const bool changed = !exe.empty() && entry.info.exe != exe;
  if (changed) entry.info.exe = exe;
  if (!executed.empty()) short_lived_.ForgetExec(tgid);
  return changed;
}

void ProcessLabels::RefreshDoubted() {
  for (size_t left = std::min(kMaxDoubts, doubted_.size()); left > 0; --left) {
    DoubtExe(doubted_.back());
    doubted_.pop_back();
  }
}

}  // namespace kepler::activity::bpf
