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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "activity/activity_source.h"
#include "activity/live_test_util.h"
#include "os/cgroupfs.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::activity {

/// What sources differ in; each is tested in both directions, and shown in the test report.
struct Guarantees {
  /// A process that came and went between two looks is told by itself, not only as time of its cgroup.
  bool names_brief_processes = false;
  /// The last slice of a process goes to the process.
  bool tells_last_slice = false;
  /// Time of a cgroup that is gone goes to that cgroup; else to its parent.
  bool remembers_gone_cgroups = false;
  /// How far the time given to a cgroup may be off its own usage.
  double most_relative_error = 0;
};

template <class Factory>
class ActivityBehaviour : public ::testing::Test {
 protected:
  static constexpr Guarantees kGuarantees = Factory::kGuarantees;

  void SetUp() override {
    RecordProperty("names_brief_processes", kGuarantees.names_brief_processes ? 1 : 0);
    RecordProperty("tells_last_slice", kGuarantees.tells_last_slice ? 1 : 0);
    RecordProperty("remembers_gone_cgroups", kGuarantees.remembers_gone_cgroups ? 1 : 0);
    source_ = Factory::Make(clock_);
    ASSERT_NE(source_, nullptr);
  }

  void Look() {
    const auto status = source_->Sample(sample_);
    ASSERT_TRUE(status) << status.error().message;
    for (const auto& process : sample_.processes) {
      Give(*process.info->cgroup, process.cpu);
      given_to_slot_[process.slot] += process.cpu;
    }
    for (const auto& brief : sample_.briefs) {
      Give(*brief.cgroups, brief.cpu);
      ++briefs_[std::string(brief.comm)];
    }
    for (const auto& residual : sample_.residuals) given_[std::string(residual.cgroup_path)] += residual.cpu;
    for (const auto& exited : sample_.exited) {
      ended_.insert(exited.slot);
      given_to_slot_[exited.slot] += exited.cpu;
      const auto lived = cgroup_of_.find(exited.slot);
      if (exited.info != nullptr)
        Give(*exited.info->cgroup, exited.cpu);
      else if (lived != cgroup_of_.end())
        Give(*lived->second, exited.cpu);
    }
    cgroup_of_.clear();
    for (const auto& process : sample_.processes) cgroup_of_[process.slot] = process.info->cgroup;
  }
  /// The worker's step, while what the kernel tells of this and of the rest of the machine is taken in.
  void Step(Worker& worker) {
    std::atomic<bool> done = false;
    std::jthread stepping([&] {
      worker.Step();
      done = true;
    });
    while (!done) {
      source_->Drain();
      ::usleep(1000);
    }
  }
  /// Records of the dead come late, by the kernel's RCU: looks until `done`, for some seconds at most.
  template <class Done>
  [[nodiscard]] bool LookUntil(Done done, int most_looks = 500) {
    for (int look = 0; look < most_looks; ++look) {
      Look();
      if (done()) return true;
      ::usleep(20'000);
    }
    return false;
  }
  [[nodiscard]] const ProcessSample* Find(pid_t pid) const {
    const auto found =
        std::ranges::find_if(sample_.processes, [&](const auto& process) { return process.info->key.tgid == pid; });
    return found == sample_.processes.end() ? nullptr : &*found;
  }
  /// What all looks together gave out to the cgroup: to its processes, living and dead, and as its residual.
  [[nodiscard]] Nanoseconds GivenTo(const std::string& cgroup) const {
    const auto found = given_.find(cgroup);
    return found == given_.end() ? Nanoseconds{0} : found->second;
  }
  void Forget() {
    given_.clear();
    briefs_.clear();
  }
  static double ToDouble(Nanoseconds time) { return static_cast<double>(time.count()); }

  SystemClock clock_;
  std::unique_ptr<ActivitySource> source_;
  ActivitySample sample_;
  std::map<std::string, int> briefs_;          // by comm, of all looks
  std::map<Slot, Nanoseconds> given_to_slot_;  // of all looks
  std::set<Slot> ended_;

 private:
  void Give(const os::CgroupMembership& cgroups, Nanoseconds time) {
    std::set<std::string> paths;
    for (const auto& line : cgroups.lines) paths.insert(line.path);
    for (const auto& path : paths) given_[path] += time;
  }

  std::map<std::string, Nanoseconds> given_;
  std::map<Slot, std::shared_ptr<const os::CgroupMembership>> cgroup_of_;
};

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
  this->Look();
  Worker worker([] { BurnCpu(std::chrono::milliseconds(200)); });
  worker.Step();
  this->Look();
  const auto* child = this->Find(worker.pid());
  ASSERT_NE(child, nullptr);
  const Nanoseconds seen = child->cpu;
  const Slot slot = child->slot;
  const Nanoseconds whole = worker.End();
  EXPECT_GE(seen, std::chrono::milliseconds(190));
  EXPECT_LE(seen, whole + std::chrono::milliseconds(5));
  ASSERT_TRUE(this->LookUntil([&] { return this->ended_.contains(slot); }));
  EXPECT_EQ(this->Find(worker.pid()), nullptr);
  if (!this->kGuarantees.tells_last_slice) return;
  // Its parent is told before the very last of it has run: what it is told may be a little less.
  EXPECT_GE(this->given_to_slot_[slot], whole - std::chrono::microseconds(100));
  EXPECT_LE(this->given_to_slot_[slot], whole + std::chrono::milliseconds(10));
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
  // Some sandboxes' kernels run no BPF program on top of a thread of process 1, and so keep a few ends from everybody.
  // That is chance; what a source loses by itself, it loses each time.
  Nanoseconds truth{0};
  double error = 0;
  int told = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
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
  auto cgroup = TestCgroup::Make();
  if (!cgroup) GTEST_SKIP() << "needs root and a writable cgroup tree with CPU time";
  if (!this->kGuarantees.remembers_gone_cgroups && !os::FindCgroupTrees("/sys", "/proc").cpuacct)
    GTEST_SKIP() << "the v2 root gives out no residual";
  const std::string owner = this->kGuarantees.remembers_gone_cgroups ? cgroup->name() : "/";
  std::optional<Worker> worker(std::in_place, [&] {
    cgroup->Enter();
    BurnCpu(std::chrono::milliseconds(150));
  });
  this->Look();
  worker->Step();
  worker.reset();
  cgroup.reset();
  EXPECT_TRUE(this->LookUntil([&] { return this->GivenTo(owner) >= std::chrono::milliseconds(150); }));
}

REGISTER_TYPED_TEST_SUITE_P(ActivityBehaviour, FirstLook_ListsThisProcessAndCountsNothing, ProcessInfo_IsWhatProcSays,
                            ChildBornBetweenLooks_GetsWhatItsRusageSays, KnownChild_GetsEachSliceOnce,
                            ThreadsThatCameAndWent_CountForTheirProcess, Zombie_IsCountedOnce,
                            ShortLivedChildren_TheirCgroupGetsTheirTime,
                            ChildrenOfACgroupThatIsGone_TheirTimeIsNotLost);

}  // namespace kepler::activity
