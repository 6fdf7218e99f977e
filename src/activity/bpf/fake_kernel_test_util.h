#pragma once
// For tests: threads as the kernel side would report them, without a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "activity/bpf/task_table.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::activity::bpf {

struct FakeThread {
  int tid = 0;
  int tgid = 0;
  uint64_t ran = 0;
  uint64_t start = 0;  // of the thread
  std::string comm = "task";
  uint64_t cgroup = 1;
  int parent = 1;
  bool kernel_thread = false;
  uint64_t group = 0;  // of its process
  uint32_t uid = 0;
};

inline kepler_task TaskOf(const FakeThread& thread, uint64_t start, uint64_t group_ran_dead) {
  kepler_task task = {};
  task.ran = thread.ran;
  task.group_ran_dead = group_ran_dead;
  task.start = start;
  task.group = thread.group;
  task.cgroup_v2 = thread.cgroup;
  task.tid = thread.tid;
  task.tgid = thread.tgid;
  task.parent_tgid = thread.kernel_thread ? KEPLER_KERNEL_THREAD : thread.parent;
  task.uid = thread.uid;
  std::memcpy(task.comm, thread.comm.data(), std::min<size_t>(thread.comm.size(), sizeof(task.comm)));
  return task;
}

/// Living threads, and the sums of the dead that the kernel keeps; hands them to a TaskTable.
class FakeKernel {
 public:
  FakeKernel() = default;
  explicit FakeKernel(const cgroup::Trees& trees) : cgroups(trees, {}) {}

  /// `thread.start` 0: now.
  FakeThread& Start(FakeThread thread) {
    if (thread.start == 0) thread.start = Now();
    const auto leader = living.find(thread.tgid);
    thread.group = thread.tid == thread.tgid || leader == living.end() ? ++groups_ : leader->second.group;
    return living[thread.tid] = thread;
  }
  /// The thread leaves the list; its record (to be handed over by the test, when it likes) has its final values, `more`
  /// above what the kernel's sum got.
  kepler_task End(int tid, uint64_t more = 0) {
    FakeThread thread = living.at(tid);
    living.erase(tid);
    dead_[thread.tgid] += thread.ran;
    thread.ran += more;
    const kepler_task record = TaskOf(thread, thread.start, dead_[thread.tgid]);
    if (thread.tid == thread.tgid) dead_.erase(thread.tgid);
    return record;
  }
  void Free(int tid) { table.AddFreed(End(tid)); }

  ActivitySample& Scan(Nanoseconds after = std::chrono::seconds(5)) {
    BeginScan(after);
    for (const auto& [tid, thread] : living) Show(thread);
    return EndScan();
  }
  void BeginScan(Nanoseconds after) {
    clock.Advance(after);
    sample = {};
    cgroups.BeginScan(clock.Now());
    table.BeginPass(clock.Now());
  }
  void Show(const FakeThread& thread) {
    const auto leader = living.find(thread.tgid);
    table.AddRow(TaskOf(thread, leader == living.end() ? thread.start : leader->second.start, dead_[thread.tgid]));
  }
  ActivitySample& EndScan() {
    table.EndPass(sample);
    return sample;
  }

  [[nodiscard]] uint64_t Now() const { return static_cast<uint64_t>(clock.Now().time_since_epoch().count()); }
  [[nodiscard]] const ProcessSample* Find(int pid) const {
    const auto found = std::ranges::find_if(sample.processes, [&](const auto& p) { return p.info->key.tgid == pid; });
    return found == sample.processes.end() ? nullptr : &*found;
  }
  /// ns given to `pid` in the latest sample; -1 if it is not listed.
  [[nodiscard]] int64_t CpuOf(int pid) const {
    const auto* const process = Find(pid);
    return process == nullptr ? -1 : process->cpu.count();
  }
  /// Given to anybody in the latest sample.
  [[nodiscard]] uint64_t Given() const {
    Nanoseconds sum{0};
    for (const auto& process : sample.processes) sum += process.cpu;
    for (const auto& exited : sample.exited) sum += exited.cpu;
    for (const auto& short_lived : sample.short_lived) sum += short_lived.cpu;
    return static_cast<uint64_t>(sum.count());
  }

  testing::FakeTree tree;
  testing::FakeClock clock{std::chrono::hours(1)};
  CgroupDirectory cgroups{{}, {}};
  ProcessFiles files{tree.Path("proc")};
  TaskTable table{cgroups, files};
  ActivitySample sample;
  std::map<int, FakeThread> living;

 private:
  std::map<int, uint64_t> dead_;  // by tgid
  uint64_t groups_ = 0;
};

/// A kernel with one process, which one scan has shown.
class AfterOneScan : public ::testing::Test {
 protected:
  AfterOneScan() {
    kernel_.tree.MakeDir("proc");
    kernel_.Start({.tid = 1, .tgid = 1, .ran = 1000, .start = 5, .comm = "init"});
    kernel_.Scan();
  }
  FakeKernel kernel_;
};

}  // namespace kepler::activity::bpf
