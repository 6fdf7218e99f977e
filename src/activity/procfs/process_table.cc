#include "activity/procfs/process_table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "os/proc_stat.h"

namespace kepler::activity::procfs {
namespace {

bool Vanished(const Error& error) { return error.kind == ErrorKind::kNotFound; }

/// Returns true if the process started after the previous scan. Start times have a resolution of one clock tick. Within
/// the tick of the previous scan the result is true: a process that existed at that scan is known.
bool StartedSince(uint64_t start_ticks, BootTime previous) {
  const auto since_boot = std::max(previous.time_since_epoch(), Nanoseconds{0});
  return start_ticks >= static_cast<uint64_t>(since_boot / os::ClockTick());
}

/// Returns the CPU time that another source has already given to the process.
std::optional<Nanoseconds> GivenBefore(std::span<const Handover::Process> known, const ProcessKey& key) {
  const auto found = std::ranges::lower_bound(known, key, {}, &Handover::Process::key);
  return found != known.end() && found->key == key ? std::optional(found->cpu) : std::nullopt;
}

/// Returns the task name without changing parts: TASK_COMM_LEN - 1 bytes, the same name as the other source reports.
/// /proc shows longer names for kernel threads. For a worker, /proc adds its current work ("kworker/0:1-events";
/// get_kthread_comm, wq_worker_comm). That label would change at every scan. "kworker/R-" is followed by the name of
/// its queue, which may contain '-'.
std::string_view StableComm(const os::ProcessStat& stat) {
  constexpr size_t kCommBytes = 15;
  if (!stat.kernel_thread()) return stat.comm;
  std::string_view comm = stat.comm;
  if (comm.starts_with("kworker/R-"))
    comm = comm.substr(0, comm.find('+'));
  else if (const auto colon = comm.find(':'); comm.starts_with("kworker/") && colon != std::string_view::npos)
    comm = comm.substr(0, comm.find_first_of("-+", colon));
  return comm.substr(0, kCommBytes);
}

}  // namespace

ProcessTable::ProcessTable(ProcessReader reader, MembershipTable& memberships, status::ActivityStatus& status)
    : reader_(std::move(reader)), memberships_(memberships), status_(status) {}

void ProcessTable::Scan(std::span<const os::ListedPid> listed, const ScanFacts& facts, ActivitySample& out) {
  now_ = facts.now;
  free_.insert(free_.end(), leaving_.begin(), leaving_.end());
  leaving_.clear();
  busy_.indices.clear();
  second_looks_.indices.clear();
  live_.swap(previous_);
  live_.clear();
  refused_.swap(refused_before_);
  refused_.clear();
  size_t old = 0;
  for (const os::ListedPid& entry : listed) {
    while (old < previous_.size() && previous_[old].pid < entry.pid) Leave(previous_[old++], out);
    if (old == previous_.size() || previous_[old].pid != entry.pid) {
      Arrive(entry, facts, out);
      continue;
    }
    Live live = previous_[old++];
    Nanoseconds delta{0};
    switch (Continue(live, entry, delta)) {
      case Fate::kSame:
        Keep(live, delta, out);
        break;
      case Fate::kReplaced:
        Leave(live, out);
        Arrive(entry, facts, out);
        break;
      case Fate::kGone:
        ++status_.vanished;
        Leave(live, out);
        break;
    }
  }
  while (old < previous_.size()) Leave(previous_[old++], out);
  RefreshDue(busy_, kMaxBusyRefreshes);
  RefreshDue(second_looks_, kMaxSecondLooks);
  RefreshInRotation();
  for (ProcessSample& process : out.processes) {
    process.info = &records_[process.slot].info;
    process.version = records_[process.slot].version;
  }
}

ProcessTable::Fate ProcessTable::Continue(Live& live, const os::ListedPid& listed, Nanoseconds& delta) {
  Nanoseconds now = live.cpu;
  bool look_closer = true;
  if (reader_.source() == ProcessReader::CpuSource::kClock) {
    const auto clock = ProcessReader::ReadClock(listed.pid);
    if (!clock) return Fate::kGone;
    now = *clock;
    look_closer = listed.inode != live.inode || now < live.cpu;
  }
  if (look_closer) {
    if (const Fate fate = ContinueByStat(live, listed, now); fate != Fate::kSame) return fate;
  }
  delta = std::max(now - live.cpu, Nanoseconds{0});
  live.cpu = std::max(now, live.cpu);
  return Fate::kSame;
}

ProcessTable::Fate ProcessTable::ContinueByStat(Live& live, const os::ListedPid& listed, Nanoseconds& now) {
  const auto stat = reader_.Stat(listed.pid);
  if (!stat) {
    if (Vanished(stat.error())) return Fate::kGone;
    // The identity is unknown at this scan. The process keeps its old identity, gets no CPU time, and is read again at
    // the next scan.
    CountUnknown(listed, stat.error());
    now = live.cpu;
    live.inode = 0;
    return Fate::kSame;
  }
  if (stat->start_ticks != records_[live.slot].info.key.start_ticks) return Fate::kReplaced;
  live.inode = listed.inode;
  if (reader_.source() == ProcessReader::CpuSource::kStat) now = ProcessReader::CpuOf(*stat);
  return Fate::kSame;
}

void ProcessTable::Keep(const Live& live, Nanoseconds delta, ActivitySample& out) {
  const auto index = static_cast<uint32_t>(live_.size());
  if (delta.count() > 0)
    busy_.indices.push_back(index);
  else if (live.second_scan)
    second_looks_.indices.push_back(index);
  live_.push_back(live);
  out.processes.push_back({.slot = live.slot, .cpu = delta});
}

void ProcessTable::Arrive(const os::ListedPid& listed, const ScanFacts& facts, ActivitySample& out) {
  // Read stat last. If stat shows a living process, the files read before are valid.
  const auto cgroup = reader_.Cgroup(listed.pid);
  // Every user may read cgroup unless hidepid=1 closes the directory. The other files are then unreadable too.
  if (!cgroup && cgroup.error().kind == ErrorKind::kPermission) return CountUnknown(listed, cgroup.error());
  const auto exe = reader_.Exe(listed.pid);
  const auto uid = reader_.RealUid(listed.pid);
  const auto stat = reader_.Stat(listed.pid);
  if (!stat) {
    if (Vanished(stat.error()))
      ++status_.vanished;
    else
      CountUnknown(listed, stat.error());
    return;
  }
  const bool by_clock = reader_.source() == ProcessReader::CpuSource::kClock;
  const auto cpu = by_clock ? ProcessReader::ReadClock(listed.pid) : ProcessReader::CpuOf(*stat);
  if (!cpu) {
    ++status_.vanished;
    return;
  }
  if (!cgroup && !Vanished(cgroup.error())) Count(cgroup.error());
  if (!uid && !Vanished(uid.error())) Count(uid.error());

  const Slot slot = TakePlace(records_, free_);
  Record& record = records_[slot];
  record.exe_refused = false;
  if (!exe) CountExe(record, exe.error());
  record.info.key = {.tgid = listed.pid, .start_ticks = stat->start_ticks};
  record.info.comm = StableComm(*stat);
  record.info.exe = exe ? *exe : std::string_view();
  record.info.kernel_thread = stat->kernel_thread();
  record.info.uid = uid.value_or(kUnknownUid);
  // The v1 lines of a dying process contain "/". With the v2 line they would look like a container that only v2 names.
  const bool cgroup_is_lost = facts.cpuacct && stat->exiting();
  record.membership = memberships_.Acquire(cgroup && !cgroup_is_lost ? *cgroup : std::string_view());
  record.info.cgroup = memberships_[record.membership].cgroups;
  ++record.version;
  if (stat->kernel_thread()) ++kernel_threads_;

  const auto given = GivenBefore(facts.known, record.info.key);
  const Nanoseconds since = given ? std::max(*cpu - *given, Nanoseconds{0}) : *cpu;
  const bool is_new = !facts.first && StartedSince(stat->start_ticks, facts.previous);
  // CPU time of a dying process from before its first scan stays in the residual of its true cgroup.
  const bool counts = (is_new || given) && !cgroup_is_lost;
  // Runtimes fork before they move the child into its cgroup and exec. Young processes are therefore refreshed soon.
  const bool young = facts.first ? StartedSince(stat->start_ticks, facts.now - std::chrono::seconds(10)) : true;
  live_.push_back({.pid = listed.pid,
                   .slot = slot,
                   .inode = listed.inode,
                   .cpu = std::max(*cpu, given.value_or(Nanoseconds{0})),
                   .second_scan = young && !stat->kernel_thread()});
  out.processes.push_back({.slot = slot, .cpu = counts ? since : Nanoseconds{0}});
}

void ProcessTable::Leave(const Live& live, ActivitySample& out) {
  Record& record = records_[live.slot];
  if (record.info.kernel_thread) --kernel_threads_;
  memberships_.Release(record.membership);
  leaving_.push_back(live.slot);
  out.exited.push_back({.slot = live.slot});
}

void ProcessTable::RefreshDue(Due& due, size_t max) {
  const auto pid = [this](uint32_t index) { return live_[index].pid; };
  if (due.indices.size() > max) {
    std::ranges::rotate(due.indices, std::ranges::upper_bound(due.indices, due.after, {}, pid));
    due.indices.resize(max);
    due.after = pid(due.indices.back());
  }
  for (const uint32_t index : due.indices) {
    Refresh(live_[index], /*with_uid=*/std::exchange(live_[index].second_scan, false));
  }
}

void ProcessTable::RefreshInRotation() {
  if (live_.empty()) return;
  auto next = std::ranges::upper_bound(live_, idle_after_, {}, &Live::pid);
  for (size_t left = std::min(kMaxIdleRefreshes, live_.size()); left > 0; --left, ++next) {
    if (next == live_.end()) next = live_.begin();
    Refresh(*next, /*with_uid=*/true);
    idle_after_ = next->pid;
  }
}

/// `with_uid`: read the user in any case. A program that starts, or a login, often changes the user too.
void ProcessTable::Refresh(Live& live, bool with_uid) {
  Record& record = records_[live.slot];
  const bool is_kernel_thread = record.info.kernel_thread;
  const auto cgroup = reader_.Cgroup(live.pid);
  const auto exe = is_kernel_thread ? std::string_view() : reader_.Exe(live.pid);
  Result<uint32_t> uid = with_uid && !is_kernel_thread ? reader_.RealUid(live.pid) : record.info.uid;
  const auto stat = reader_.Stat(live.pid);
  if (!stat) {
    if (!Vanished(stat.error())) Count(stat.error());
    return;
  }
  if (stat->start_ticks != record.info.key.start_ticks) {
    live.inode = 0;
    return;
  }
  // A dying process has lost its exe and its v1 cgroups. Its old labels stay.
  if (stat->exiting()) return;
  bool changed = RefreshCgroup(record, cgroup);
  if (const auto comm = StableComm(*stat); record.info.comm != comm) {
    record.info.comm = comm;
    changed = true;
  }
  if (!exe) {
    CountExe(record, exe.error());
  } else if (record.info.exe != *exe) {
    record.info.exe = *exe;
    changed = true;
  }
  if (changed && !with_uid && !is_kernel_thread) uid = UidNow(live, record);
  if (!uid) {
    if (!Vanished(uid.error())) Count(uid.error());
  } else if (record.info.uid != *uid) {
    record.info.uid = *uid;
    changed = true;
  }
  if (changed) ++record.version;
}

/// Returns the user of a living process, or its known user if another process has the pid now.
Result<uint32_t> ProcessTable::UidNow(const Live& live, const Record& record) {
  const auto uid = reader_.RealUid(live.pid);
  const auto stat = reader_.Stat(live.pid);
  const bool is_same = stat && stat->start_ticks == record.info.key.start_ticks;
  return is_same ? uid : record.info.uid;
}

bool ProcessTable::RefreshCgroup(Record& record, const Result<std::string_view>& text) {
  if (!text) {
    if (!Vanished(text.error())) Count(text.error());
    return false;
  }
  if (memberships_[record.membership].text == *text) return false;
  const MembershipId now = memberships_.Acquire(*text);
  if (now == record.membership || now == MembershipTable::kUnreadable) {
    memberships_.Release(now);
    return false;
  }
  memberships_.Release(std::exchange(record.membership, now));
  record.info.cgroup = memberships_[now].cgroups;
  return true;
}

/// A refusal lasts as long as the process lives, so it is counted once.
void ProcessTable::CountExe(Record& record, const Error& error) {
  if (Vanished(error)) return;
  if (error.kind == ErrorKind::kPermission && std::exchange(record.exe_refused, true)) return;
  Count(error);
}

/// Counts a process without a known identity. A refusal repeats at every scan, possibly for every process of the
/// machine.
void ProcessTable::CountUnknown(const os::ListedPid& listed, const Error& error) {
  if (error.kind == ErrorKind::kPermission) {
    refused_.push_back(listed);
    const auto before = std::ranges::lower_bound(refused_before_, listed.pid, {}, &os::ListedPid::pid);
    if (before != refused_before_.end() && before->pid == listed.pid && before->inode == listed.inode) return;
  }
  Count(error);
}

void ProcessTable::Count(const Error& error) {
  ++status_.failed_reads;
  // Logs one line per file name and reason. The pid in the message is an example.
  const auto slash = error.message.find('/');
  limiter_.Say(log::Level::kInfo, slash == std::string::npos ? error.message : error.message.substr(slash), now_,
               error.kind == ErrorKind::kPermission
                   ? "failed to read a file of a process; its labels stay empty. Grant CAP_SYS_PTRACE and mount "
                     "/proc without hidepid"
                   : "failed to read a file of a process; its labels stay empty",
               {{"err", error.message}});
}

}  // namespace kepler::activity::procfs
