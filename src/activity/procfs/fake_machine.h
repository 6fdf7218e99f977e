#pragma once
// For tests: a /proc and cgroup trees as files, and a source that looks at them. CPU times are PID/stat ticks.
#include <fmt/core.h>

#include <map>
#include <memory>
#include <string>

#include "activity/procfs/procfs_source.h"
#include "os/proc_stat.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::activity::procfs {

struct FakeProcess {
  int pid = 0;
  uint64_t ticks = 0;
  uint64_t start = 1000;
  std::string cgroup = "0::/\n";
  std::string comm = "task";
  std::string exe = "/bin/task";
  unsigned flags = 0;
  char state = 'S';
  uint64_t child_ticks = 0;
  int64_t uid = -1;  // -1: there is no PID/status
};

class FakeMachine {
 public:
  static constexpr std::string_view kV2 = "sys/fs/cgroup";
  static constexpr std::string_view kV1 = "sys/fs/cgroup/cpuacct";
  static constexpr std::string_view kHybridV2 = "sys/fs/cgroup/unified";

  FakeMachine() { tree.MakeDir("proc"); }

  /// Writes everything about a process; called again for the same pid it changes what is there.
  void Put(const FakeProcess& p) {
    PutStat(p);
    const std::string dir = fmt::format("proc/{}/", p.pid);
    Replace(dir + "cgroup", p.cgroup);
    if (!p.exe.empty()) tree.Symlink(dir + "exe", p.exe);
    if (p.uid >= 0) Replace(dir + "status", fmt::format("Name:\t{}\nUid:\t{}\t0\t0\t0\n", p.comm, p.uid));
  }
  void PutStat(const FakeProcess& p) {
    Replace(fmt::format("proc/{}/stat", p.pid),
            fmt::format("{} ({}) {} 1 1 1 0 -1 {} 0 0 0 0 {} {} {} {} 20 0 1 0 {} 0 0\n", p.pid, p.comm, p.state,
                        p.flags, p.ticks / 2, p.ticks - p.ticks / 2, p.child_ticks, p.child_ticks, p.start));
  }
  void End(int pid) { tree.Remove(fmt::format("proc/{}", pid)); }

  /// A kernel thread at pid 2: everybody is visible.
  void PutKernelThread(const std::string& comm = "kthreadd") {
    Put({.pid = 2, .start = 1, .comm = comm, .exe = "", .flags = 0x00200000});
  }

  void SetV2(const std::string& path, Nanoseconds usage, std::string_view top = kV2) {
    const std::string dir = std::string(top) + path;
    if (path.empty() || !has_v2_) tree.Write(std::string(top) + "/cgroup.controllers", "cpu\n");
    has_v2_ = true;
    Replace(dir + "/cpu.stat", fmt::format("usage_usec {}\nuser_usec 0\n", usage.count() / 1000));
    if (!path.empty()) Replace(dir + "/cgroup.events", "populated 1\n");
  }
  void SetV1(const std::string& path, Nanoseconds usage) {
    Replace(std::string(kV1) + path + "/cpuacct.usage", fmt::format("{}\n", usage.count()));
  }
  void RemoveCgroup(const std::string& path, std::string_view top = kV2) { tree.Remove(std::string(top) + path); }

  void SetMachineBusy(uint64_t ticks) { SetMachine({.user = ticks, .idle = 1000}); }
  void SetMachine(const os::ProcStatCpu& c) {
    tree.Write("proc/stat", fmt::format("cpu  {} {} {} {} {} {} {} {} 0 0\ncpu0 0 0 0 0\n", c.user, c.nice, c.system,
                                        c.idle, c.iowait, c.irq, c.softirq, c.steal));
  }

  /// The one look at the machine so far; made at the first use, so set the trees up before.
  ProcfsSource& source() {
    if (!source_) source_ = std::make_unique<ProcfsSource>(MakeOptions(), clock);
    return *source_;
  }
  [[nodiscard]] ProcfsOptions MakeOptions() const {
    return {.procfs = tree.Path("proc"), .sysfs = tree.Path("sys"), .with_uids = with_uids, .time = time};
  }

  /// So much later.
  ActivitySample& Scan(Nanoseconds after = std::chrono::seconds(5)) {
    clock.Advance(after);
    const auto status = source().Sample(sample);
    last_error = status ? "" : status.error().message;
    return sample;
  }

  /// A process as it is at the next scan.
  ActivitySample& ScanWith(const FakeProcess& process, Nanoseconds after = std::chrono::seconds(5)) {
    Put(process);
    return Scan(after);
  }

  [[nodiscard]] const ProcessSample* Find(int pid) const {
    for (const auto& process : sample.processes)
      if (process.info->key.tgid == pid) return &process;
    return nullptr;
  }
  /// CPU ticks of `pid` in the latest sample; -1 if it is not there.
  [[nodiscard]] int64_t TicksOf(int pid) const {
    const auto* process = Find(pid);
    return process == nullptr ? -1 : process->cpu / os::ClockTick();
  }
  [[nodiscard]] std::map<std::string, Nanoseconds> Residuals() const {
    std::map<std::string, Nanoseconds> by_path;
    for (const auto& residual : sample.residuals) by_path[residual.cgroup->path] += residual.cpu;
    return by_path;
  }
  /// Returns the living cgroup of that path, or null.
  [[nodiscard]] cgroup::CgroupPtr Cgroup(std::string_view path) {
    for (const cgroup::CgroupPtr& living : source().LivingCgroups())
      if (living->path == path) return living;
    return nullptr;
  }
  /// Start time of a process that is born now.
  [[nodiscard]] uint64_t NowTicks() const {
    return static_cast<uint64_t>(clock.Now().time_since_epoch() / os::ClockTick());
  }

  testing::FakeTree tree;
  testing::FakeClock clock;
  bool with_uids = true;  // before the first use of source()
  TimeAccounting time;    // what the kernel keeps apart; before the first use of source()
  ActivitySample sample;
  std::string last_error;

 private:
  /// A new file each time: ext4 writes a truncated one to the disk at once, which takes milliseconds.
  void Replace(const std::string& path, std::string_view content) {
    tree.Remove(path);
    tree.Write(path, content);
  }

  bool has_v2_ = false;
  std::unique_ptr<ProcfsSource> source_;
};

inline Nanoseconds Ticks(int64_t ticks) { return os::ClockTick() * ticks; }

}  // namespace kepler::activity::procfs
