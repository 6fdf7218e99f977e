#include "activity/bpf/hidden_processes.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "activity/bpf/task_labels.h"
#include "os/proc_stat.h"
#include "os/procfs.h"

namespace kepler::activity::bpf {
namespace {

uint64_t Tick() { return static_cast<uint64_t>(os::ClockTick().count()); }

/// Returns the kernfs id of a cgroup, which is the inode of its directory; 0 if the directory is not visible.
uint64_t IdOf(const std::optional<cgroup::Tree>& tree, const std::string& path) {
  struct stat status = {};
  if (!tree || ::stat((tree->path + path).c_str(), &status) != 0) return 0;
  return status.st_ino;
}

}  // namespace

void HiddenProcesses::BeforePass(BootTime now) {
  now_ = now;
  listed_.clear();
  if (listed_at_ && now - *listed_at_ < kPeriod) return;
  listed_at_ = now;
  if (!lister_) {
    auto lister = os::PidLister::Open(procfs_);
    if (!lister) return Count(lister.error());
    lister_ = *std::move(lister);
    reader_.SetDirectory(lister_->dir_fd());
  }
  if (const auto listed = lister_->List(listed_); !listed) {
    Count(listed.error());
    lister_.reset();
  }
}

void HiddenProcesses::AfterPass(TaskTable& table) {
  const bool again = !listed_.empty();
  std::erase_if(hidden_, [&](Hidden& hidden) {
    if (table.Shows(hidden.row.tgid)) return true;  // the kernel now shows the process, so it is an ordinary row
    if (!Read(hidden, again)) {
      table.EndHidden(hidden.row.tgid);
      return true;
    }
    table.AddHidden(hidden.row);
    return false;
  });
  if (again) FindNew(table);
}

void HiddenProcesses::FindNew(TaskTable& table) {
  for (const os::ListedPid& listed : listed_) {
    if (table.Shows(listed.pid)) continue;
    auto found = Identify(listed.pid);
    // A process too young for the pass may have reused the pid of a listed process that ended.
    if (!found || (found->start_ticks + 1) * Tick() > SinceBoot(now_)) continue;
    if (!Read(*found, false)) continue;
    limiter_.Say(log::Level::kInfo, "found", now_, "BPF does not show a process; reading its CPU clock at each scan",
                 {{"pid", std::to_string(listed.pid)}, {"comm", std::string(CommOf(found->row))}});
    table.AddHidden(found->row);
    hidden_.push_back(*found);
    ++found_;
  }
  listed_.clear();
}

/// Reads the CPU time, and the identity if a check is needed. Returns false if the process is gone.
bool HiddenProcesses::Read(Hidden& hidden, bool again) {
  std::optional<Nanoseconds> ran;
  const bool by_clock = reader_.source() == ProcessReader::CpuSource::kClock;
  if (by_clock) {
    ran = ProcessReader::ReadClock(hidden.row.tgid);
    if (!ran) return false;
  }
  const auto is_less = [&] { return static_cast<uint64_t>(ran->count()) < hidden.row.ran; };
  if (!by_clock || again || is_less()) {
    const auto now = Identify(hidden.row.tgid);
    if (!now) return now.error().kind != ErrorKind::kNotFound;
    if (now->start_ticks != hidden.start_ticks) return false;
    if (!by_clock) ran = Nanoseconds(static_cast<int64_t>(now->row.ran));
    const kepler_task before = hidden.row;
    hidden.row = now->row;
    hidden.row.ran = before.ran;
    if (!now->knows_cgroups) {
      hidden.row.cgroup_v2 = before.cgroup_v2;
      hidden.row.cgroup_cpuacct = before.cgroup_cpuacct;
    }
  }
  hidden.row.ran = std::max<uint64_t>(hidden.row.ran, static_cast<uint64_t>(ran->count()));
  return true;
}

Result<HiddenProcesses::Hidden> HiddenProcesses::Identify(int32_t pid) {
  const auto uid = reader_.RealUid(pid);
  const auto stat = reader_.Stat(pid);  // last: if it shows the process, the user is its user
  if (!stat || !uid) {
    const Error& error = stat ? uid.error() : stat.error();
    if (error.kind != ErrorKind::kNotFound) Count(error);
    return std::unexpected(error);
  }
  Hidden found;
  found.start_ticks = stat->start_ticks;
  kepler_task& row = found.row;
  row.tid = row.tgid = pid;
  row.parent_tgid = stat->kernel_thread() ? KEPLER_KERNEL_THREAD : stat->ppid;
  row.start = stat->start_ticks * Tick();
  row.uid = *uid;
  std::memcpy(row.comm, stat->comm.data(), std::min<size_t>(stat->comm.size(), sizeof(row.comm) - 1));
  if (reader_.source() == ProcessReader::CpuSource::kStat)
    row.ran = static_cast<uint64_t>(ProcessReader::CpuOf(*stat).count());
  found.knows_cgroups = FillCgroups(row);
  return found;
}

bool HiddenProcesses::FillCgroups(kepler_task& row) {
  const auto lines = reader_.CgroupLines(row.tgid);
  if (!lines) {
    if (lines.error().kind != ErrorKind::kNotFound) Count(lines.error());
    return false;
  }
  for (const os::CgroupLine& line : *lines) {
    if (line.hierarchy == 0) row.cgroup_v2 = IdOf(trees_.unified, line.path);
    if (os::HasController(line.controllers, "cpuacct")) row.cgroup_cpuacct = IdOf(trees_.cpuacct, line.path);
  }
  return true;
}

void HiddenProcesses::Count(const Error& error) {
  ++failed_;
  limiter_.Say(log::Level::kInfo, "read", now_, "failed to check whether BPF shows every process",
               {{"err", error.message}});
}

}  // namespace kepler::activity::bpf
