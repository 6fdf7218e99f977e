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
#include "os/cgroupfs.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::activity {

TYPED_TEST_SUITE_P(ActivityBehaviour);

TYPED_TEST_P(ActivityBehaviour, FirstLook_ListsThisProcessAndCountsNothing) {
  this->Look();
  const auto* self = this->Find(::getpid());
  ASSERT_NE(self, nullptr);
  EXPECT_FALSE(self->info->comm.empty());
  EXPECT_FALSE(self->info->exe.empty());
  EXPECT_FALSE(self->info->cgroup->lines.empty());
  EXPECT_NE(self->version, 0U);
  const auto& processes = this->sample_.processes;
  EXPECT_TRUE(std::ranges::all_of(processes, [](const auto& p) { return p.cpu.count() == 0; }));
  EXPECT_TRUE(std::ranges::is_sorted(processes, {}, [](const auto& p) { return p.info->key.tgid; }));
  EXPECT_TRUE(this->sample_.briefs.empty());
  EXPECT_TRUE(this->source_->Health().up);
}

TYPED_TEST_P(ActivityBehaviour, ProcessInfo_IsWhatProcSays) {
  this->Look();
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

TYPED_TEST_P(ActivityBehaviour, ChildBornBetweenLooks_GetsWhatItsRusageSays) {
  Nanoseconds whole{0};
  Nanoseconds given{0};
  // Its parent is told before the very last of it has run: what it is told may be a little less.
  const auto is_all = [&] { return given >= whole - std::chrono::microseconds(100); };
  for (int attempt = 0; attempt == 0 || (attempt < this->kAttempts && !is_all()); ++attempt) {
    this->Look();
    this->Forget();
    Worker worker([] { BurnCpu(std::chrono::milliseconds(200)); });
    const pid_t pid = worker.pid();
    worker.Step();
    this->Look();
    const auto* child = this->Find(pid);
    ASSERT_NE(child, nullptr);
    const Nanoseconds seen = child->cpu;
    const Slot slot = child->slot;
    whole = worker.End();
    EXPECT_GE(seen, std::chrono::milliseconds(190));
    EXPECT_LE(seen, whole + std::chrono::milliseconds(5));
    ASSERT_TRUE(this->LookUntil([&] { return this->ended_.contains(slot); }));
    EXPECT_EQ(this->Find(pid), nullptr);
    given = this->given_to_slot_[slot];
    if (!this->kGuarantees.tells_last_slice) return;
  }
  EXPECT_TRUE(is_all()) << given << " of " << whole;
  EXPECT_LE(given, whole + std::chrono::milliseconds(10));
}

TYPED_TEST_P(ActivityBehaviour, KnownChild_GetsEachSliceOnce) {
  Worker worker([] { BurnCpu(std::chrono::milliseconds(100)); });
  worker.Step();
  this->Look();
  const Nanoseconds before = CpuClockOf(worker.pid());
  Nanoseconds sum{0};
  for (int look = 0; look < 3; ++look) {
    worker.Step();
    this->Look();
    ASSERT_NE(this->Find(worker.pid()), nullptr);
    sum += this->Find(worker.pid())->cpu;
  }
  const Nanoseconds truth = CpuClockOf(worker.pid()) - before;
  EXPECT_GE(truth, std::chrono::milliseconds(299));
  EXPECT_NEAR(this->ToDouble(sum), this->ToDouble(truth), 5e6) << "not the 100 ms before the first look";
}

TYPED_TEST_P(ActivityBehaviour, ThreadsThatCameAndWent_CountForTheirProcess) {
  Worker worker([] {
    for (int i = 0; i < 40; ++i) std::thread([] { BurnThreadCpu(std::chrono::milliseconds(3)); }).join();
  });
  this->Look();
  worker.Step();
  this->Look();
  ASSERT_NE(this->Find(worker.pid()), nullptr);
  EXPECT_GE(this->Find(worker.pid())->cpu, std::chrono::milliseconds(115));
}

TYPED_TEST_P(ActivityBehaviour, Zombie_IsCountedOnce) {
  this->Look();
  Worker worker([] { BurnCpu(std::chrono::milliseconds(50)); });
  worker.Step();
  Nanoseconds sum{0};
  for (int look = 0; look < 4; ++look) {
    this->Look();
    ASSERT_NE(this->Find(worker.pid()), nullptr) << "look " << look;
    sum += this->Find(worker.pid())->cpu;
    if (look == 0) {
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
  this->Look();
  Nanoseconds truth{0};
  double error = 0;
  int told = 0;
  for (int attempt = 0; attempt < this->kAttempts; ++attempt) {
    EXPECT_TRUE(this->LookUntil([&, looks = 0]() mutable { return ++looks > 10; })) << "late records are in";
    this->Forget();
    const Nanoseconds before = cgroup->Usage();
    this->Step(parent);
    const auto is_right = [&] {
      truth = cgroup->Usage() - before;
      error = std::abs(this->ToDouble(this->GivenTo(cgroup->name()) - truth)) / this->ToDouble(truth);
      told = this->briefs_["brief-child"];
      return error <= this->kGuarantees.most_relative_error;
    };
    if (this->LookUntil(is_right, 50)) break;
  }
  EXPECT_GE(truth, std::chrono::milliseconds(180));
  EXPECT_LE(error, this->kGuarantees.most_relative_error);
  // One that had threads (of a sanitizer, say) may be told in two parts.
  EXPECT_GE(told, this->kGuarantees.names_brief_processes ? 60 : 0);
  EXPECT_LE(told, this->kGuarantees.names_brief_processes ? 120 : 0);
  EXPECT_TRUE(std::ranges::any_of(this->source_->LivingCgroups(),
                                  [&](const auto& living) { return living.path == cgroup->name(); }));
}

TYPED_TEST_P(ActivityBehaviour, ChildrenOfACgroupThatIsGone_TheirTimeIsNotLost) {
  if (!this->kGuarantees.remembers_gone_cgroups && !os::FindCgroupTrees("/sys", "/proc").cpuacct)
    GTEST_SKIP() << "the v2 root gives out no residual";
  bool is_given = false;
  for (int attempt = 0; attempt < this->kAttempts && !is_given; ++attempt) {
    auto cgroup = TestCgroup::Make();
    if (!cgroup) GTEST_SKIP() << "needs root and a writable cgroup tree with CPU time";
    const std::string owner = this->kGuarantees.remembers_gone_cgroups ? cgroup->name() : "/";
    std::optional<Worker> worker(std::in_place, [&] {
      cgroup->Enter();
      BurnCpu(std::chrono::milliseconds(150));
    });
    this->Look();
    this->Forget();
    worker->Step();
    worker.reset();
    cgroup.reset();
    is_given = this->LookUntil([&] { return this->GivenTo(owner) >= std::chrono::milliseconds(150); });
  }
  EXPECT_TRUE(is_given);
}

REGISTER_TYPED_TEST_SUITE_P(ActivityBehaviour, FirstLook_ListsThisProcessAndCountsNothing, ProcessInfo_IsWhatProcSays,
                            ChildBornBetweenLooks_GetsWhatItsRusageSays, KnownChild_GetsEachSliceOnce,
                            ThreadsThatCameAndWent_CountForTheirProcess, Zombie_IsCountedOnce,
                            ShortLivedChildren_TheirCgroupGetsTheirTime,
                            ChildrenOfACgroupThatIsGone_TheirTimeIsNotLost);

}  // namespace kepler::activity
