// What the source sees of the machine, and what it says about what it does not see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "activity/procfs/fake_machine.h"
#include "activity/procfs/invisible_time.h"
#include "activity/procfs/process_reader.h"

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
  FakeMachine m;
};

TEST_F(Visibility, KernelThreadSeen_NothingIsInvisible) {
  m.PutKernelThread();
  m.SetMachineBusy(0);
  m.Look();
  m.SetMachineBusy(1000);
  m.Look();
  EXPECT_EQ(m.sample.invisible, Nanoseconds{0});
}

TEST_F(Visibility, NoKernelThread_SmoothedRestOfTheMachineIsInvisible) {
  m.Put({.pid = 10});
  m.SetMachineBusy(0);
  m.Look();
  EXPECT_EQ(m.sample.invisible, Nanoseconds{0}) << "no earlier reading";
  m.Put({.pid = 10, .ticks = 100});
  m.SetMachineBusy(600);
  m.Look();
  EXPECT_EQ(m.sample.invisible, Ticks(500) / 5);
  uint64_t busy = 600;
  for (int look = 0; look < 40; ++look) {
    m.SetMachineBusy(busy += 500);
    m.Look();
  }
  EXPECT_NEAR(static_cast<double>(m.sample.invisible.count()), static_cast<double>(Ticks(500).count()),
              static_cast<double>(Ticks(5).count()));
}

TEST_F(Visibility, ResidualsAreSeenToo_TheyAreNotInvisible) {
  m.SetV2("/box", Ticks(0));
  m.Put({.pid = 10, .cgroup = "0::/box\n"});
  m.SetMachineBusy(0);
  m.Look();
  m.SetV2("/box", Ticks(300));
  m.SetMachineBusy(300);
  m.Look();
  EXPECT_EQ(m.sample.invisible, Nanoseconds{0});
}

TEST_F(Visibility, MoreSeenThanBusy_IsNotNegativeAndIsPaidBack) {
  InvisibleTime invisible;
  EXPECT_EQ(invisible.Update(Ticks(0), Ticks(50), 5s), Nanoseconds{0});
  EXPECT_EQ(invisible.Update(Ticks(50), Ticks(0), 5s), Ticks(2)) << "(-10 + (50 + 10) / 5)";
}

TEST_F(Visibility, LooksOfUnequalLength_ShortOneGetsItsShareOnly) {
  InvisibleTime invisible;
  for (int look = 0; look < 50; ++look) static_cast<void>(invisible.Update(4s, 0s, 5s));
  EXPECT_NEAR(static_cast<double>(invisible.Update(80ms, 0ms, 100ms).count()), 80e6, 1e4) << "the same rate";
  EXPECT_NEAR(static_cast<double>(invisible.Update(0ms, 0ms, 100ms).count()), 64e6, 1e4) << "not 0.8 × 4 s";
  EXPECT_NEAR(static_cast<double>(invisible.Update(4s, 0s, 5s).count()), 3.36e9, 1e6) << "(0.64 + 0.16 / 5) × 5 s";
}

TEST_F(Visibility, DemandLookSoonAfterAnother_InvisibleIsOfItsOwnTime) {
  m.Put({.pid = 10});
  uint64_t busy = 0;
  m.SetMachineBusy(busy);
  m.Look();
  for (int look = 0; look < 50; ++look) {
    m.SetMachineBusy(busy += 400);
    m.Look();
  }
  m.SetMachineBusy(busy += 8);
  m.Look(100ms);
  EXPECT_NEAR(static_cast<double>(m.sample.invisible.count()), static_cast<double>(Ticks(8).count()), 1e4);
}

TEST_F(Visibility, ClosedProcess_IsCountedOnceUntilItIsAnotherOrOpens) {
  m.PutKernelThread();
  m.Put({.pid = 10});
  m.Put({.pid = 11});
  for (const char* above : {"", "proc"}) m.tree.Chmod(above, 0755);
  for (const char* closed : {"proc/10", "proc/11"}) m.tree.Chmod(closed, 0);
  const auto look = [this] { WithoutPrivilege([this] { m.Look(); }); };
  const std::string log = LogOf(look);
  EXPECT_EQ(CountIn(log, "a file of a process cannot be read"), 1U) << "one file of one process is tried, and named";
  EXPECT_EQ(m.source().Health().reads_failed, 2U);
  look();
  look();
  EXPECT_EQ(m.source().Health().reads_failed, 2U);
  EXPECT_EQ(m.Find(10), nullptr);
  m.tree.Chmod("proc/11", 0755);
  m.tree.Reincarnate("proc/11");
  m.tree.Chmod("proc/11", 0);
  m.tree.Chmod("proc/10", 0755);
  look();
  EXPECT_EQ(m.source().Health().reads_failed, 3U) << "another process, or so it seems";
  EXPECT_NE(m.Find(10), nullptr);
}

TEST_F(Visibility, NotEverybodyVisible_IsSaidOnce) {
  const std::string log = LogOf([&] {
    m.Put({.pid = 10});
    m.SetMachineBusy(0);
    m.Look();
    m.Look();
    m.Look();
  });
  EXPECT_EQ(CountIn(log, "not every process is visible"), 1U);
}

TEST_F(Visibility, EverybodyVisible_NothingIsSaid) {
  const std::string log = LogOf([&] {
    m.PutKernelThread();
    m.Look();
  });
  EXPECT_THAT(log, Not(HasSubstr("not every process is visible")));
}

TEST_F(Visibility, OtherPidNamespace_StatIsUsedAndSaidOnce) {
  m.tree.Write("proc/self/status", "Name:\tx\nNSpid:\t31\t1\n");
  m.PutKernelThread();
  const std::string log = LogOf([&] {
    m.Look();
    m.Look();
  });
  EXPECT_EQ(CountIn(log, "the CPU clocks of the processes cannot be used"), 1U);
}

TEST_F(Visibility, NoCgroupTree_IsSaidOnce) {
  m.PutKernelThread();
  const std::string log = LogOf([&] {
    m.Look();
    m.Look();
  });
  EXPECT_EQ(CountIn(log, "no cgroup tree with CPU time is visible"), 1U);
}

TEST_F(Visibility, UnreadableFile_IsExplainedOnceButCountedEachTime) {
  m.PutKernelThread();
  m.Put({.pid = 10, .exe = ""});
  m.Put({.pid = 11, .exe = ""});
  m.tree.MakeDir("proc/10/exe");
  m.tree.MakeDir("proc/11/exe");
  const std::string log = LogOf([&] {
    m.Look();
    m.Look();
  });
  EXPECT_EQ(CountIn(log, "a file of a process cannot be read"), 1U);
  EXPECT_GE(m.source().Health().reads_failed, 4U);
}

TEST_F(Visibility, ProcessesOutsideOurCgroupNamespace_AreSaidOnceAndStillCounted) {
  m.SetV2("/inside", Ticks(0));
  m.PutKernelThread();
  m.Put({.pid = 10, .cgroup = "0::/../outside\n"});
  const std::string log = LogOf([&] {
    m.Look();
    for (uint64_t look = 1; look <= 3; ++look) {
      m.Put({.pid = 10, .ticks = look, .cgroup = "0::/../outside\n"});
      m.Look();
      EXPECT_EQ(m.TicksOf(10), 1);
      EXPECT_TRUE(m.sample.residuals.empty());
    }
  });
  EXPECT_EQ(CountIn(log, "in cgroups that are not visible from here"), 1U);
}

TEST_F(Visibility, HostTreeFromOurOwnCgroupNamespace_NothingIsCountedTwice) {
  // The tree is the host's, we are in /kube/agent of it, and paths are relative to that.
  m.SetV2("/kube", Ticks(0));
  m.SetV2("/kube/agent", Ticks(0));
  m.SetV2("/docker", Ticks(0));
  m.tree.Write(std::string(FakeMachine::kV2) + "/kube/agent/cgroup.procs", fmt::format("{}\n", ::getpid()));
  m.tree.Write("proc/self/cgroup", "0::/\n");
  m.PutKernelThread();
  m.Put({.pid = 10, .cgroup = "0::/../../docker\n"});
  m.Look();
  m.SetV2("/docker", Ticks(9));
  m.Put({.pid = 10, .ticks = 7, .cgroup = "0::/../../docker\n"});
  m.Look();
  EXPECT_THAT(m.Residuals(), ::testing::UnorderedElementsAre(::testing::Pair("/docker", Ticks(2))));
}

TEST_F(Visibility, TreeThatIsNotOurs_IsLeftOutAndSaid) {
  m.SetV2("/box", Ticks(0));
  m.tree.Write("proc/self/cgroup", "0::/somewhere\n");
  m.PutKernelThread();
  const std::string log = LogOf([&] {
    m.Look();
    m.SetV2("/box", Ticks(9));
    m.Look();
  });
  EXPECT_TRUE(m.sample.residuals.empty());
  EXPECT_EQ(CountIn(log, "does not hold this process"), 1U);
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
