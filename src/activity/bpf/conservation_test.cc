// Whatever is born, runs and dies, and however late the records come: what is given out is what ran.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>

#include "activity/bpf/fake_kernel_test_util.h"

namespace kepler::activity::bpf {
namespace {

/// A machine with random processes. Records wait in one queue per processor. The queues advance at random, as RCU's
/// callbacks do: the records of one process may come in any order.
class RandomMachine {
 public:
  RandomMachine() {
    kernel.tree.MakeDir("proc");
    kernel.Start({.tid = 1, .tgid = 1, .ran = 77, .start = 5});
  }
  void Step() {
    const int what = *rc::gen::inRange(0, 10);
    kernel.clock.Advance(std::chrono::microseconds(10));
    if (what < 3) return Fork();
    if (what < 5) return Clone();
    if (what < 7) return Run();
    if (what < 9) return EndSomething();
    Deliver(*rc::gen::inRange<size_t>(0, 3));
  }
  void Scan() {
    kernel.BeginScan(std::chrono::milliseconds(100));
    std::vector<int> tids;
    tids.reserve(kernel.living.size());
    for (const auto& [tid, thread] : kernel.living) tids.push_back(tid);
    for (const int tid : tids) {
      // Whatever happens while the kernel walks its list: those behind may die, those before too.
      if (*rc::gen::inRange(0, 6) == 0) EndSomething();
      if (const auto living = kernel.living.find(tid); living != kernel.living.end()) kernel.Show(living->second);
    }
    kernel.EndScan();
    given += kernel.Given();
  }
  void Deliver(size_t queue) {
    if (records_[queue % 2].empty()) return;
    kernel.table.AddFreed(records_[queue % 2].front());
    records_[queue % 2].pop_front();
  }
  void DeliverAll() {
    for (auto& queue : records_)
      while (!queue.empty()) Deliver(static_cast<size_t>(&queue - records_));
  }
  void EndAll() {
    while (kernel.living.size() > 1) End(kernel.living.rbegin()->first);
  }

  FakeKernel kernel;
  uint64_t ran = 0;  // since the first scan
  uint64_t given = 0;
  uint64_t last_moments = 0;  // of threads, behind what the kernel's sum has

 private:
  void Add(int tid, int tgid) { kernel.Start({.tid = tid, .tgid = tgid}); }
  void Fork() {
    const int pid = 2 + (next_++ * 7) % 40;  // few, so that they are used again
    if (!kernel.living.contains(pid)) Add(pid, pid);
  }
  int AnyLiving() {
    auto it = kernel.living.begin();
    std::advance(it, *rc::gen::inRange<size_t>(0, kernel.living.size()));
    return it->first;
  }
  void Clone() {
    const int tgid = kernel.living.at(AnyLiving()).tgid;
    const int tid = 2 + (next_++ * 7) % 40;
    if (!kernel.living.contains(tid) && kernel.living.contains(tgid)) Add(tid, tgid);
  }
  void Run() {
    const auto time = *rc::gen::inRange<uint64_t>(1, 1'000'000);
    kernel.living.at(AnyLiving()).ran += time;
    ran += time;
  }
  void EndSomething() {
    const int tid = AnyLiving();
    if (tid != 1) End(tid);
  }
  /// A leader takes its threads with it: it stays until they are gone.
  void End(int tid) {
    if (kernel.living.at(tid).tgid == tid) {
      std::vector<int> threads;
      for (const auto& [other, thread] : kernel.living)
        if (thread.tgid == tid && other != tid) threads.push_back(other);
      for (const int thread : threads) EndOne(thread);
    }
    EndOne(tid);
  }
  void EndOne(int tid) {
    const auto more = *rc::gen::inRange<uint64_t>(0, 9);
    ran += more;
    last_moments += more;
    records_[*rc::gen::inRange<size_t>(0, 2)].push_back(kernel.End(tid, more));
  }

  std::deque<kepler_task> records_[2];
  int next_ = 0;
};

RC_GTEST_PROP(TaskTableProperty, EverythingThatRan_IsGivenOnceAndNotMore, ()) {
  RandomMachine machine;
  machine.Scan();
  const int steps = *rc::gen::inRange(1, 200);
  for (int step = 0; step < steps; ++step) {
    machine.Step();
    if (*rc::gen::inRange(0, 8) == 0) {
      machine.Scan();
      RC_ASSERT(machine.given <= machine.ran);
    }
  }
  machine.EndAll();
  machine.DeliverAll();
  machine.Scan();
  machine.Scan();
  RC_ASSERT(machine.given <= machine.ran);
  // Records of threads behind that of their leader: of those the last moments are missing, and nothing else.
  RC_ASSERT(machine.ran - machine.given <= machine.last_moments);
}

}  // namespace
}  // namespace kepler::activity::bpf
