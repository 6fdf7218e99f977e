#pragma once
// For tests: what every ActivitySource must do on a real kernel. Instantiate with a factory:
//   struct Factory { static std::unique_ptr<ActivitySource> Make(const Clock&); };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Procfs, ActivityBehaviour, Factory);
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "activity/activity_source.h"
#include "os/cgroupfs.h"
#include "os/file.h"

namespace kepler::activity {

/// A child process that does what it is told, one step at a time; killed with the object.
class Worker {
 public:
  /// `work` runs in the child at each Step().
  template <class Work>
  explicit Worker(Work work) {
    if (::pipe(to_) != 0 || ::pipe(from_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ != 0) return;
    char command = 0;
    while (::read(to_[0], &command, 1) == 1) {
      work();
      if (::write(from_[1], &command, 1) != 1) break;
    }
    ::_exit(0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (pid_ > 0) End();
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]}) ::close(fd);
  }
  /// Returns when the work is done.
  void Step() {
    char byte = 'x';
    ASSERT_EQ(::write(to_[1], &byte, 1), 1);
    ASSERT_EQ(::read(from_[0], &byte, 1), 1);
  }
  /// CPU time of its whole life, itself only.
  Nanoseconds End() {
    ::kill(pid_, SIGKILL);
    rusage usage = {};
    ::wait4(pid_, nullptr, 0, &usage);
    pid_ = -1;
    const auto of = [](const timeval& t) {
      return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  int to_[2] = {-1, -1};
  int from_[2] = {-1, -1};
  pid_t pid_ = -1;
};

inline Nanoseconds OwnCpu() {
  timespec t = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + Nanoseconds(t.tv_nsec);
}

inline void BurnCpu(Nanoseconds time) {
  const Nanoseconds end = OwnCpu() + time;
  while (OwnCpu() < end) {
  }
}

/// A cgroup of our own that accounts CPU time, in the tree that sources use.
class TestCgroup {
 public:
  /// Nothing where none can be made: not root, or no tree.
  static std::unique_ptr<TestCgroup> Make() {
    const auto trees = os::FindCgroupTrees("/sys", "/proc");
    const auto tree = trees.cpuacct ? trees.cpuacct : trees.unified;
    if (!tree) return nullptr;
    auto made = std::unique_ptr<TestCgroup>(new TestCgroup);
    made->name_ = "/kepler-test-" + std::to_string(::getpid());
    made->version_ = tree->version;
    made->path_ = tree->path + made->name_;
    if (::mkdir(made->path_.c_str(), 0755) != 0) return nullptr;
    return made;
  }
  TestCgroup(const TestCgroup&) = delete;
  TestCgroup& operator=(const TestCgroup&) = delete;
  ~TestCgroup() { ::rmdir(path_.c_str()); }

  /// Moves the calling process into it.
  void Enter() const {
    std::FILE* const procs = std::fopen((path_ + "/cgroup.procs").c_str(), "w");
    if (procs == nullptr) return;
    std::fputs("0", procs);
    std::fclose(procs);
  }
  [[nodiscard]] Nanoseconds Usage() const {
    os::ReadBuffer buffer;
    const auto dir = os::OpenDir(path_);
    return dir ? os::ReadCgroupUsage(dir->get(), version_, buffer).value_or(Nanoseconds{-1}) : Nanoseconds{-1};
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  TestCgroup() = default;
  std::string name_;
  std::string path_;
  os::CgroupVersion version_ = os::CgroupVersion::kUnified;
};

template <class Factory>
class ActivityBehaviour : public ::testing::Test {
 protected:
  void Look() {
    const auto status = source->Sample(sample);
    ASSERT_TRUE(status) << status.error().message;
  }
  [[nodiscard]] const ProcessSample* Find(pid_t pid) const {
    const auto found =
        std::ranges::find_if(sample.processes, [&](const auto& process) { return process.info->key.tgid == pid; });
    return found == sample.processes.end() ? nullptr : &*found;
  }
  /// What was given out to the cgroup: its processes and its residual.
  [[nodiscard]] Nanoseconds GivenTo(const std::string& cgroup) const {
    Nanoseconds sum{0};
    for (const auto& process : sample.processes) {
      const auto& lines = process.info->cgroup->lines;
      if (std::ranges::any_of(lines, [&](const auto& line) { return line.path == cgroup; })) sum += process.cpu;
    }
    for (const auto& residual : sample.residuals) {
      if (residual.cgroup_path == cgroup) sum += residual.cpu;
    }
    return sum;
  }

  SystemClock clock;
  std::unique_ptr<ActivitySource> source = Factory::Make(clock);
  ActivitySample sample;
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
  EXPECT_TRUE(std::ranges::all_of(this->sample.processes, [](const auto& p) { return p.cpu.count() == 0; }));
  EXPECT_TRUE(std::ranges::is_sorted(this->sample.processes, {}, [](const auto& p) { return p.info->key.tgid; }));
  EXPECT_TRUE(this->source->Health().up);
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
  EXPECT_NEAR(static_cast<double>(seen.count()), static_cast<double>(whole.count()), 2e7) << "a clock tick or two";
  this->Look();
  EXPECT_EQ(this->Find(worker.pid()), nullptr);
  EXPECT_TRUE(std::ranges::any_of(this->sample.exited, [&](const auto& exited) { return exited.slot == slot; }));
}

TYPED_TEST_P(ActivityBehaviour, KnownChild_GetsEachSliceOnce) {
  Worker worker([] { BurnCpu(std::chrono::milliseconds(100)); });
  worker.Step();
  this->Look();
  Nanoseconds sum{0};
  for (int look = 0; look < 3; ++look) {
    worker.Step();
    this->Look();
    ASSERT_NE(this->Find(worker.pid()), nullptr);
    sum += this->Find(worker.pid())->cpu;
  }
  EXPECT_NEAR(static_cast<double>(sum.count()), 3e8, 3e7) << "not the 100 ms before the first look";
}

TYPED_TEST_P(ActivityBehaviour, ShortLivedChildren_TheirCgroupGetsTheirTime) {
  const auto cgroup = TestCgroup::Make();
  if (!cgroup) GTEST_SKIP() << "needs root and a writable cgroup tree with CPU time";
  Worker parent([&] {
    cgroup->Enter();
    for (int i = 0; i < 60; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        BurnCpu(std::chrono::milliseconds(3));
        ::_exit(0);
      }
      ::waitpid(child, nullptr, 0);
    }
  });
  parent.Step();
  this->Look();
  const Nanoseconds before = cgroup->Usage();
  parent.Step();
  this->Look();
  const Nanoseconds truth = cgroup->Usage() - before;
  EXPECT_GE(truth, std::chrono::milliseconds(180));
  EXPECT_NEAR(static_cast<double>(this->GivenTo(cgroup->name()).count()), static_cast<double>(truth.count()),
              0.02 * static_cast<double>(truth.count()) + 1e7);
  EXPECT_TRUE(std::ranges::any_of(this->source->LivingCgroups(),
                                  [&](const auto& living) { return living.path == cgroup->name(); }));
}

TYPED_TEST_P(ActivityBehaviour, ChildrenOfACgroupThatIsGone_TheirTimeIsNotLost) {
  auto cgroup = TestCgroup::Make();
  if (!cgroup) GTEST_SKIP() << "needs root and a writable cgroup tree with CPU time";
  if (!os::FindCgroupTrees("/sys", "/proc").cpuacct) GTEST_SKIP() << "the v2 root gives out no residual";
  std::optional<Worker> worker(std::in_place, [&] {
    cgroup->Enter();
    BurnCpu(std::chrono::milliseconds(150));
  });
  this->Look();
  worker->Step();
  worker.reset();
  cgroup.reset();
  this->Look();
  EXPECT_GE(this->GivenTo("/"), std::chrono::milliseconds(150));
}

REGISTER_TYPED_TEST_SUITE_P(ActivityBehaviour, FirstLook_ListsThisProcessAndCountsNothing,
                            ChildBornBetweenLooks_GetsWhatItsRusageSays, KnownChild_GetsEachSliceOnce,
                            ShortLivedChildren_TheirCgroupGetsTheirTime,
                            ChildrenOfACgroupThatIsGone_TheirTimeIsNotLost);

}  // namespace kepler::activity
