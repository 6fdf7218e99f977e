#pragma once
// For tests: what every ActivitySource must do on a real kernel, and what only some of them promise. Instantiate with:
//   struct Factory {
//     static constexpr Guarantees kGuarantees = {...};
//     static std::unique_ptr<ActivitySource> Make(const Clock&);
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Procfs, ActivityBehaviour, Factory);
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <thread>

#include "activity/behaviour_fixture.h"
#include "activity/live_test_util.h"
#include "cgroup/tree.h"
#include "os/dirents.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::activity {

TYPED_TEST_SUITE_P(ActivityBehaviour);

TYPED_TEST_P(ActivityBehaviour, FirstScan_ListsThisProcessAndCountsNothing) {
  this->Scan();
  const auto* self = this->Find(::getpid());
  ASSERT_NE(self, nullptr);
  EXPECT_FALSE(self->info->comm.empty());
  EXPECT_FALSE(self->info->exe.empty());
  EXPECT_FALSE(self->info->cgroup->lines.empty());
  EXPECT_NE(self->version, 0U);
  const auto& processes = this->sample_.processes;
  EXPECT_TRUE(std::ranges::all_of(processes, [](const auto& p) { return p.cpu.count() == 0; }));
  EXPECT_TRUE(std::ranges::is_sorted(processes, {}, [](const auto& p) { return p.info->key.tgid; }));
  EXPECT_TRUE(this->sample_.short_lived.empty());
  EXPECT_TRUE(this->source_->status().up);
}

/// Some kernels keep a few processes from BPF, whoever asks.
TYPED_TEST_P(ActivityBehaviour, FirstScan_ListsWhoeverProcShows) {
  auto lister = os::PidLister::Open("/proc");
  ASSERT_TRUE(lister);
  std::vector<os::ListedPid> before;
  std::vector<os::ListedPid> after;
  ASSERT_TRUE(lister->List(before));
  this->Scan();
  ASSERT_TRUE(lister->List(after));
  for (const os::ListedPid& listed : before) {
    const bool lived_on = std::ranges::any_of(
        after, [&](const auto& other) { return other.pid == listed.pid && other.inode == listed.inode; });
    EXPECT_TRUE(!lived_on || this->Find(listed.pid) != nullptr) << "pid " << listed.pid;
  }
}

TYPED_TEST_P(ActivityBehaviour, ProcessInfo_IsWhatProcSays) {
  this->Scan();
  const auto* self = this->Find(::getpid());
  ASSERT_NE(self, nullptr);
  const auto text = os::ReadWholeFile("/proc/self/stat");
  ASSERT_TRUE(text);
  const auto stat = os::ParseProcessStat(*text);
  ASSERT_TRUE(stat);
  EXPECT_EQ(self->info->key, (ProcessKey{::getpid(), stat->start_ticks}));
  EXPECT_EQ(self->info->comm, stat->comm);
  os::ReadBuffer buffer;
  EXPECT_EQ(self->info->exe, os::ReadLinkAt(AT_FDCWD, "/proc/self/exe", buffer).value_or("?"));
}

/// Also while they work: /proc adds to the name of a worker what it does at the moment.
TYPED_TEST_P(ActivityBehaviour, KernelThreads_HaveTheNameOfTheirTask) {
  this->Scan();
  int judged = 0;
  for (const auto& process : this->sample_.processes) {
    if (!process.info->kernel_thread) continue;
    const std::string directory = "/proc/" + std::to_string(process.info->key.tgid);
    const auto shown = os::ReadWholeFile(directory + "/comm");
    if (!shown) continue;
    const std::string& comm = process.info->comm;
    EXPECT_LE(comm.size(), 15U) << comm;
    EXPECT_TRUE(shown->starts_with(comm)) << comm << ", shown as " << *shown;
    // With CONFIG_SCHED_DEBUG: "kworker/0:1 (11, #threads: 1)", the kernel's own name.
    if (const auto sched = os::ReadWholeFile(directory + "/sched")) {
      EXPECT_EQ(comm, sched->substr(0, sched->rfind(" (", sched->find('\n'))));
    }
    ++judged;
  }
  if (judged == 0) GTEST_SKIP() << "no kernel thread is visible from here";
}

TYPED_TEST_P(ActivityBehaviour, ChildBornBetweenScans_GetsWhatItsRusageSays) {
  this->RepeatWhereUnreported([&]() -> Miss {
    this->Scan();
    this->Forget();
    Worker worker([] { BurnCpu(std::chrono::milliseconds(200)); });
    const pid_t pid = worker.pid();
    worker.Step();
    this->Scan();
    const auto* child = this->Find(pid);
    EXPECT_NE(child, nullptr);
    if (child == nullptr) return {};
    const Nanoseconds seen = child->cpu;
    const Slot slot = child->slot;
    const Nanoseconds whole = worker.End();
    EXPECT_GE(seen, std::chrono::milliseconds(190));
    EXPECT_LE(seen, whole + std::chrono::milliseconds(5));
    EXPECT_TRUE(this->ScanUntil([&] { return this->ended_.contains(slot); }));
    EXPECT_EQ(this->Find(pid), nullptr);
    const Nanoseconds given = this->given_to_slot_[slot];
    EXPECT_LE(given, whole + std::chrono::milliseconds(10));
    // The kernel notifies the parent before the child's last instructions have run: the reported time may be less.
    const bool is_all = given >= whole - std::chrono::microseconds(100);
    if (is_all || !this->kGuarantees.reports_last_slice) return {};
    return {1, std::to_string(given.count()) + " of " + std::to_string(whole.count()) + " ns are reported"};
  });
}

TYPED_TEST_P(ActivityBehaviour, KnownChild_GetsEachSliceOnce) {
  Worker worker([] { BurnCpu(std::chrono::milliseconds(100)); });
  worker.Step();
  this->Scan();
  const Nanoseconds before = CpuClockOf(worker.pid());
  Nanoseconds sum{0};
  for (int scan = 0; scan < 3; ++scan) {
    worker.Step();
    this->Scan();
    ASSERT_NE(this->Find(worker.pid()), nullptr);
    sum += this->Find(worker.pid())->cpu;
  }
  const Nanoseconds truth = CpuClockOf(worker.pid()) - before;
  EXPECT_GE(truth, std::chrono::milliseconds(299));
  EXPECT_NEAR(this->ToDouble(sum), this->ToDouble(truth), 5e6) << "not the 100 ms before the first scan";
}

TYPED_TEST_P(ActivityBehaviour, PidThatIsUsedAgain_IsAnotherProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to choose a pid";
  std::optional<Worker> first(std::in_place, [] { BurnCpu(std::chrono::milliseconds(10)); });
  const pid_t pid = first->pid();
  first->Step();
  this->Scan();
  ASSERT_NE(this->Find(pid), nullptr);
  const Slot slot = this->Find(pid)->slot;
  first->End();
  Worker second([] { BurnCpu(std::chrono::milliseconds(40)); }, pid);
  if (second.pid() != pid) GTEST_SKIP() << "another process was quicker, or the kernel gives no pid of one's choice";
  second.Step();
  const Nanoseconds used = CpuClockOf(pid);
  this->Scan();
  ASSERT_NE(this->Find(pid), nullptr);
  EXPECT_NE(this->Find(pid)->slot, slot);
  EXPECT_NEAR(static_cast<double>(this->Find(pid)->cpu.count()), static_cast<double>(used.count()), 2e6);
}

TYPED_TEST_P(ActivityBehaviour, ThreadsThatCameAndWent_CountForTheirProcess) {
  Worker worker([] {
    for (int i = 0; i < 40; ++i) std::thread([] { BurnThreadCpu(std::chrono::milliseconds(3)); }).join();
  });
  this->Scan();
  worker.Step();
  this->Scan();
  ASSERT_NE(this->Find(worker.pid()), nullptr);
  EXPECT_GE(this->Find(worker.pid())->cpu, std::chrono::milliseconds(115));
}

TYPED_TEST_P(ActivityBehaviour, Zombie_IsCountedOnce) {
  this->Scan();
  Worker worker([] { BurnCpu(std::chrono::milliseconds(50)); });
  worker.Step();
  Nanoseconds sum{0};
  for (int scan = 0; scan < 4; ++scan) {
    this->Scan();
    ASSERT_NE(this->Find(worker.pid()), nullptr) << "scan " << scan;
    sum += this->Find(worker.pid())->cpu;
    if (scan == 0) {
      worker.Step();
      worker.BecomeZombie();
    }
  }
  EXPECT_GE(sum, std::chrono::milliseconds(100));
  EXPECT_NEAR(this->ToDouble(sum), this->ToDouble(CpuClockOf(worker.pid())), 5e6);
}

TYPED_TEST_P(ActivityBehaviour, ShortLivedChildren_TheirCgroupGetsTheirTime) {
  const auto cgroup = TestCgroup::Make();
  if (!cgroup) GTEST_SKIP() << "needs root and a writable cgroup tree with CPU time";
  Worker parent([&] {
    cgroup->Enter();
    for (int i = 0; i < 60; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_NAME, "brief-child");
        BurnCpu(std::chrono::milliseconds(3));
        ::_exit(0);
      }
      ::waitpid(child, nullptr, 0);
    }
  });
  parent.Step();
  this->Scan();
  constexpr int kChildren = 60;
  this->RepeatWhereUnreported([&]() -> Miss {
    EXPECT_TRUE(this->ScanUntil([&, scans = 0]() mutable { return ++scans > 10; })) << "late records are in";
    this->Forget();
    const Nanoseconds before = cgroup->Usage();
    const uint64_t unreported_before = this->Unreported();
    this->Step(parent);
    double truth = 0;
    double missing = 0;
    int reported = 0;
    int unreported = 0;  // ends that the kernel kept from everybody: the time of such a child is known, not its name
    const int due = this->kGuarantees.names_short_lived_processes ? kChildren : 0;
    const auto is_right = [&] {
      const Nanoseconds used = cgroup->Usage() - before;
      truth = this->ToDouble(used);
      missing = this->ToDouble(used - this->GivenTo(cgroup->name()));
      reported = this->short_lived_["brief-child"];
      constexpr uint64_t kMaxUnreported = kChildren / 10;
      unreported = static_cast<int>(std::min(this->Unreported() - unreported_before, kMaxUnreported));
      return std::abs(missing) <= this->kGuarantees.max_relative_error * truth && reported + unreported >= due;
    };
    const bool right = this->ScanUntil(is_right, 50);
    if (right && reported < due)
      std::printf("%d children without a name; %d ends unreported\n", due - reported, unreported);
    EXPECT_GE(truth, 180e6);
    EXPECT_GE(missing, -this->kGuarantees.max_relative_error * truth) << "more than there was";
    // A process with threads, such as those of a sanitizer, may be reported in two parts.
    EXPECT_LE(reported, 2 * due);
    if (right) return {};
    const auto ends = std::max(std::ceil(missing * kChildren / truth), static_cast<double>(due - reported));
    return {static_cast<uint64_t>(std::max(ends, 1.0)), std::to_string(missing / 1e6) + " ms are missing and " +
                                                            std::to_string(reported) + " children were reported"};
  });
  EXPECT_TRUE(std::ranges::any_of(this->source_->LivingCgroups(),
                                  [&](const auto& living) { return living->path == cgroup->name(); }));
}

TYPED_TEST_P(ActivityBehaviour, ChildrenOfACgroupThatIsGone_TheirTimeIsNotLost) {
  if (!this->kGuarantees.remembers_gone_cgroups && !cgroup::FindTrees("/sys", "/proc").cpuacct)
    GTEST_SKIP() << "the v2 root gives out no residual";
  if (TestCgroup::Make() == nullptr) GTEST_SKIP() << "needs root and a writable cgroup tree with CPU time";
  this->RepeatWhereUnreported([&]() -> Miss {
    auto cgroup = TestCgroup::Make();
    EXPECT_NE(cgroup, nullptr);
    if (cgroup == nullptr) return {};
    const std::string owner = this->kGuarantees.remembers_gone_cgroups ? cgroup->name() : "/";
    std::optional<Worker> worker(std::in_place, [&] {
      cgroup->Enter();
      BurnCpu(std::chrono::milliseconds(150));
    });
    this->Scan();
    this->Forget();
    worker->Step();
    worker.reset();
    cgroup.reset();
    if (this->ScanUntil([&] { return this->GivenTo(owner) >= std::chrono::milliseconds(150); })) return {};
    return {1, std::to_string(this->GivenTo(owner).count()) + " ns of 150 ms are reported"};
  });
}

TYPED_TEST_P(ActivityBehaviour, ChildThatChangesItsUser_IsNoticed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kOther = 12'345;
  Worker child([] { static_cast<void>(::setreuid(kOther, 0)); });
  this->Scan();
  ASSERT_NE(this->Find(child.pid()), nullptr);
  EXPECT_EQ(this->Find(child.pid())->info->uid, ::getuid());
  child.Step();
  this->Scan();
  ASSERT_NE(this->Find(child.pid()), nullptr);
  EXPECT_EQ(this->Find(child.pid())->info->uid, kOther) << "the real user";
}

REGISTER_TYPED_TEST_SUITE_P(ActivityBehaviour, FirstScan_ListsThisProcessAndCountsNothing,
                            FirstScan_ListsWhoeverProcShows, ProcessInfo_IsWhatProcSays,
                            KernelThreads_HaveTheNameOfTheirTask, ChildBornBetweenScans_GetsWhatItsRusageSays,
                            KnownChild_GetsEachSliceOnce, PidThatIsUsedAgain_IsAnotherProcess,
                            ChildThatChangesItsUser_IsNoticed, ThreadsThatCameAndWent_CountForTheirProcess,
                            Zombie_IsCountedOnce, ShortLivedChildren_TheirCgroupGetsTheirTime,
                            ChildrenOfACgroupThatIsGone_TheirTimeIsNotLost);

}  // namespace kepler::activity
