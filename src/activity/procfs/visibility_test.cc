// What the source sees of the machine, and what it says about what it does not see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "activity/process_reader.h"
#include "activity/procfs/fake_machine.h"
#include "activity/procfs/invisible_time.h"

namespace kepler::activity::procfs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class Visibility : public ::testing::Test {
 protected:
  /// What the log says while `action` runs.
  template <class Action>
  static std::string LogOf(Action&& action) {
    ::testing::internal::CaptureStdout();
    action();
    return ::testing::internal::GetCapturedStdout();
  }
  static size_t CountIn(const std::string& text, std::string_view what) {
    size_t count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  }
  /// Root may read everything: as another user for its file accesses.
  template <class Action>
  static void WithoutPrivilege(Action&& action) {
    const auto before = static_cast<uid_t>(::setfsuid(::geteuid() == 0 ? 65534 : ::geteuid()));
    action();
    ::setfsuid(before);
  }
  FakeMachine machine_;
};

TEST_F(Visibility, KernelThreadSeen_NothingIsInvisible) {
  machine_.PutKernelThread();
  machine_.SetMachineBusy(0);
  machine_.SetV2("", Ticks(0));
  machine_.tree.Write("proc/self/cgroup", "0::/\n");
  const std::string log = LogOf([&] { machine_.Scan(); });
  EXPECT_EQ(CountIn(log, "translating them"), 0U) << log;
  machine_.SetMachineBusy(1000);
  machine_.Scan();
  EXPECT_EQ(machine_.sample.invisible, Nanoseconds{0});
}

TEST_F(Visibility, NoKernelThread_SmoothedRestOfTheMachineIsInvisible) {
  machine_.Put({.pid = 10});
  machine_.SetMachineBusy(0);
  machine_.Scan();
  EXPECT_EQ(machine_.sample.invisible, Nanoseconds{0}) << "no earlier reading";
  machine_.Put({.pid = 10, .ticks = 100});
  machine_.SetMachineBusy(600);
  machine_.Scan();
  EXPECT_EQ(machine_.sample.invisible, Ticks(500) / 5);
  uint64_t busy = 600;
  for (int scan = 0; scan < 40; ++scan) {
    machine_.SetMachineBusy(busy += 500);
    machine_.Scan();
  }
  EXPECT_NEAR(static_cast<double>(machine_.sample.invisible.count()), static_cast<double>(Ticks(500).count()),
              static_cast<double>(Ticks(5).count()));
}

/// 300 ticks stolen and 200 of interrupts: no task's where the kernel keeps them apart, visible or not.
TEST_F(Visibility, WhatTheKernelKeepsApart_IsNotInvisibleTime) {
  for (const auto& [time, rest] : {std::pair{TimeAccounting{KeptApart::kYes, KeptApart::kYes}, 100},
                                   {TimeAccounting{KeptApart::kNo, KeptApart::kYes}, 300},
                                   {TimeAccounting{KeptApart::kYes, KeptApart::kNo}, 400},
                                   {TimeAccounting{KeptApart::kUnknown, KeptApart::kUnknown}, 600}}) {
    FakeMachine machine;
    machine.time = time;
    machine.Put({.pid = 10});
    machine.SetMachine({.user = 100, .idle = 1000, .irq = 10, .softirq = 10, .steal = 10});
    machine.Scan();
    machine.SetMachine({.user = 200, .idle = 1000, .irq = 110, .softirq = 110, .steal = 310});
    machine.Scan();
    EXPECT_EQ(machine.sample.invisible, Ticks(rest) / 5);
    EXPECT_EQ(machine.source().status().time.interrupts, time.interrupts);
    EXPECT_EQ(machine.source().status().time.steal, time.steal);
  }
}

TEST_F(Visibility, ResidualsAreSeenToo_TheyAreNotInvisible) {
  machine_.SetV2("/box", Ticks(0));
  machine_.Put({.pid = 10, .cgroup = "0::/box\n"});
  machine_.SetMachineBusy(0);
  machine_.Scan();
  machine_.SetV2("/box", Ticks(300));
  machine_.SetMachineBusy(300);
  machine_.Scan();
  EXPECT_EQ(machine_.sample.invisible, Nanoseconds{0});
}

TEST_F(Visibility, MoreSeenThanBusy_IsNotNegativeAndIsPaidBack) {
  InvisibleTime invisible;
  EXPECT_EQ(invisible.Update(Ticks(0), Ticks(50), 5s), Nanoseconds{0});
  EXPECT_EQ(invisible.Update(Ticks(50), Ticks(0), 5s), Ticks(2)) << "(-10 + (50 + 10) / 5)";
}

TEST_F(Visibility, ScansOfUnequalLength_ShortOneGetsItsShareOnly) {
  InvisibleTime invisible;
  for (int scan = 0; scan < 50; ++scan) static_cast<void>(invisible.Update(4s, 0s, 5s));
  EXPECT_NEAR(static_cast<double>(invisible.Update(80ms, 0ms, 100ms).count()), 80e6, 1e4) << "the same rate";
  EXPECT_NEAR(static_cast<double>(invisible.Update(0ms, 0ms, 100ms).count()), 64e6, 1e4) << "not 0.8 × 4 s";
  EXPECT_NEAR(static_cast<double>(invisible.Update(4s, 0s, 5s).count()), 3.36e9, 1e6) << "(0.64 + 0.16 / 5) × 5 s";
}

TEST_F(Visibility, DemandScanSoonAfterAnother_InvisibleIsOfItsOwnTime) {
  machine_.Put({.pid = 10});
  uint64_t busy = 0;
  machine_.SetMachineBusy(busy);
  machine_.Scan();
  for (int scan = 0; scan < 50; ++scan) {
    machine_.SetMachineBusy(busy += 400);
    machine_.Scan();
  }
  machine_.SetMachineBusy(busy + 8);
  machine_.Scan(100ms);
  EXPECT_NEAR(static_cast<double>(machine_.sample.invisible.count()), static_cast<double>(Ticks(8).count()), 1e4);
}

TEST_F(Visibility, ClosedProcess_IsCountedOnceUntilItIsAnotherOrOpens) {
  machine_.PutKernelThread();
  machine_.Put({.pid = 10});
  machine_.Put({.pid = 11});
  for (const char* above : {"", "proc"}) machine_.tree.Chmod(above, 0755);
  for (const char* closed : {"proc/10", "proc/11"}) machine_.tree.Chmod(closed, 0);
  const auto scan = [this] { WithoutPrivilege([this] { machine_.Scan(); }); };
  const std::string log = LogOf(scan);
  EXPECT_EQ(CountIn(log, "failed to read a file of a process"), 1U) << "one file of one process is tried, and named";
  EXPECT_EQ(machine_.source().status().failed_reads, 2U);
  scan();
  scan();
  EXPECT_EQ(machine_.source().status().failed_reads, 2U);
  EXPECT_EQ(machine_.Find(10), nullptr);
  machine_.tree.Chmod("proc/11", 0755);
  machine_.tree.Reincarnate("proc/11");
  machine_.tree.Chmod("proc/11", 0);
  machine_.tree.Chmod("proc/10", 0755);
  scan();
  EXPECT_EQ(machine_.source().status().failed_reads, 3U) << "another process, or so it seems";
  EXPECT_NE(machine_.Find(10), nullptr);
}

TEST_F(Visibility, NotEverybodyVisible_IsSaidOnce) {
  const std::string log = LogOf([&] {
    machine_.Put({.pid = 10});
    machine_.SetMachineBusy(0);
    machine_.Scan();
    machine_.Scan();
    machine_.Scan();
  });
  EXPECT_EQ(CountIn(log, "some processes are not visible"), 1U);
}

TEST_F(Visibility, EverybodyVisible_NothingIsSaid) {
  const std::string log = LogOf([&] {
    machine_.PutKernelThread();
    machine_.Scan();
  });
  EXPECT_THAT(log, Not(HasSubstr("some processes are not visible")));
}

TEST_F(Visibility, OtherPidNamespace_StatIsUsedAndSaidOnce) {
  machine_.tree.Write("proc/self/status", "Name:\tx\nNSpid:\t31\t1\n");
  machine_.PutKernelThread();
  const std::string log = LogOf([&] {
    machine_.Scan();
    machine_.Scan();
  });
  EXPECT_EQ(CountIn(log, "CPU clocks of processes are unavailable"), 1U);
}

TEST_F(Visibility, NoCgroupTree_IsSaidOnce) {
  machine_.PutKernelThread();
  const std::string log = LogOf([&] {
    machine_.Scan();
    machine_.Scan();
  });
  EXPECT_EQ(CountIn(log, "no cgroup tree with CPU time is visible"), 1U);
}

TEST_F(Visibility, UnreadableFile_IsExplainedOnceButCountedEachTime) {
  machine_.PutKernelThread();
  machine_.Put({.pid = 10, .exe = ""});
  machine_.Put({.pid = 11, .exe = ""});
  machine_.tree.MakeDir("proc/10/exe");
  machine_.tree.MakeDir("proc/11/exe");
  const std::string log = LogOf([&] {
    machine_.Scan();
    machine_.Scan();
  });
  EXPECT_EQ(CountIn(log, "failed to read a file of a process"), 1U);
  EXPECT_GE(machine_.source().status().failed_reads, 4U);
}

TEST_F(Visibility, ProcessesOutsideOurCgroupNamespace_AreSaidOnceAndStillCounted) {
  machine_.SetV2("/inside", Ticks(0));
  machine_.PutKernelThread();
  machine_.Put({.pid = 10, .cgroup = "0::/../outside\n"});
  const std::string log = LogOf([&] {
    machine_.Scan();
    for (uint64_t scan = 1; scan <= 3; ++scan) {
      machine_.Put({.pid = 10, .ticks = scan, .cgroup = "0::/../outside\n"});
      machine_.Scan();
      EXPECT_EQ(machine_.TicksOf(10), 1);
      EXPECT_TRUE(machine_.sample.residuals.empty());
    }
  });
  EXPECT_EQ(CountIn(log, "in cgroups that are not visible here"), 1U);
}

TEST_F(Visibility, HostTreeFromOurOwnCgroupNamespace_NothingIsCountedTwice) {
  // The tree is the host's, we are in /kube/agent of it, and paths are relative to that.
  machine_.SetV2("/kube", Ticks(0));
  machine_.SetV2("/kube/agent", Ticks(0));
  machine_.SetV2("/docker", Ticks(0));
  machine_.tree.Write(std::string(FakeMachine::kV2) + "/kube/agent/cgroup.procs", fmt::format("{}\n", ::getpid()));
  machine_.tree.Write("proc/self/cgroup", "0::/\n");
  machine_.PutKernelThread();
  machine_.Put({.pid = 10, .cgroup = "0::/../../docker\n"});
  const std::string log = LogOf([&] { machine_.Scan(); });
  EXPECT_EQ(CountIn(log, "translating them"), 1U);
  machine_.SetV2("/docker", Ticks(9));
  machine_.ScanWith({.pid = 10, .ticks = 7, .cgroup = "0::/../../docker\n"});
  EXPECT_THAT(machine_.Residuals(), ::testing::UnorderedElementsAre(::testing::Pair("/docker", Ticks(2))));
}

TEST_F(Visibility, TreeThatIsNotOurs_IsLeftOutAndSaid) {
  machine_.SetV2("/box", Ticks(0));
  machine_.tree.Write("proc/self/cgroup", "0::/somewhere\n");
  machine_.PutKernelThread();
  const std::string log = LogOf([&] {
    machine_.Scan();
    machine_.SetV2("/box", Ticks(9));
    machine_.Scan();
  });
  EXPECT_TRUE(machine_.sample.residuals.empty());
  EXPECT_EQ(CountIn(log, "does not contain this process"), 1U);
}

TEST(ProcessReaderSource, OwnProcfs_UsesTheClock_OthersTheStat) {
  testing::FakeTree tree;
  EXPECT_EQ(ProcessReader::SourceFor(tree.root()), ProcessReader::CpuSource::kStat);
  tree.Write("self/status", fmt::format("NSpid:\t{}\n", ::getpid()));
  EXPECT_EQ(ProcessReader::SourceFor(tree.root()), ProcessReader::CpuSource::kClock);
  tree.Write("self/status", fmt::format("NSpid:\t{}\t1\n", ::getpid()));
  EXPECT_EQ(ProcessReader::SourceFor(tree.root()), ProcessReader::CpuSource::kStat);
  tree.Write("self/status", fmt::format("NSpid:\t{}\n", ::getpid() + 1));
  EXPECT_EQ(ProcessReader::SourceFor(tree.root()), ProcessReader::CpuSource::kStat);
  tree.Write("self/status", "Name:\tx\n");
  EXPECT_EQ(ProcessReader::SourceFor(tree.root()), ProcessReader::CpuSource::kStat);
}

}  // namespace
}  // namespace kepler::activity::procfs
