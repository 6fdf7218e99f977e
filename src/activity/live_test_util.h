#pragma once
// For tests on the kernel that runs them: children that burn CPU time on command, clocks, and a separate
// cgroup.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "cgroup/tree.h"
#include "os/file.h"

namespace kepler::activity {

/// A child process that runs one step per command; killed with the object.
class Worker {
 public:
  /// `work` runs in the child at each Step(). `as`: the pid it must have (root only, clone3(2) of Linux 5.5); pid() is
  /// negative where that one is not to be had.
  template <class Work>
  explicit Worker(Work work, pid_t as = 0) {
    if (::pipe2(to_, O_CLOEXEC) != 0 || ::pipe2(from_, O_CLOEXEC) != 0) std::abort();
    pid_ = as == 0 ? ::fork() : ForkAs(as);
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
  /// Dies, and is not waited for before End().
  void BecomeZombie() const {
    siginfo_t info = {};
    ::kill(pid_, SIGKILL);
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
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
  static pid_t ForkAs(pid_t pid) {
    clone_args arguments = {};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<uint64_t>(&pid);
    arguments.set_tid_size = 1;
    return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
  }

  int to_[2] = {-1, -1};
  int from_[2] = {-1, -1};
  pid_t pid_ = -1;
};

inline Nanoseconds OwnCpu() {
  timespec t = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + Nanoseconds(t.tv_nsec);
}

inline void BurnThreadCpu(Nanoseconds time) {
  while (ThreadCpuTime() < time) {
  }
}

inline void BurnCpu(Nanoseconds time) {
  const Nanoseconds end = OwnCpu() + time;
  while (OwnCpu() < end) {
  }
}

/// What the process used so far, as its own clock says; of a zombie too.
inline Nanoseconds CpuClockOf(pid_t pid) {
  clockid_t clock = 0;
  timespec t = {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &t) != 0) return Nanoseconds{-1};
  return std::chrono::seconds(t.tv_sec) + Nanoseconds(t.tv_nsec);
}

/// A cgroup of our own that accounts CPU time, in the tree that sources use.
class TestCgroup {
 public:
  /// Nothing where none can be made: not root, or no tree.
  static std::unique_ptr<TestCgroup> Make() {
    const auto trees = cgroup::FindTrees("/sys", "/proc");
    const auto tree = trees.cpuacct ? trees.cpuacct : trees.unified;
    if (!tree) return nullptr;
    auto made = std::unique_ptr<TestCgroup>(new TestCgroup);
    made->name_ = "/kepler-test-" + std::to_string(::getpid());
    made->version_ = tree->version;
    made->path_ = tree->path + made->name_;
    if (::mkdir(made->path_.c_str(), 0755) != 0) return nullptr;
    return made;
  }
  /// The root of that tree. Nothing where it is not the machine's: in a cgroup namespace of its own.
  static std::unique_ptr<TestCgroup> Root() {
    constexpr ino_t kRootOfKernfs = 1;
    auto root = Make();
    if (!root) return nullptr;
    ::rmdir(root->path_.c_str());
    root->path_.resize(root->path_.size() - root->name_.size());
    root->name_ = "/";
    struct stat status = {};
    if (::stat(root->path_.c_str(), &status) != 0 || status.st_ino != kRootOfKernfs) return nullptr;
    return root;
  }
  TestCgroup(const TestCgroup&) = delete;
  TestCgroup& operator=(const TestCgroup&) = delete;
  ~TestCgroup() {
    if (name_ != "/") ::rmdir(path_.c_str());
  }

  /// Moves the calling process into it.
  void Enter() const {
    std::FILE* const procs = std::fopen((path_ + "/cgroup.procs").c_str(), "we");
    if (procs == nullptr) return;
    std::fputs("0", procs);
    std::fclose(procs);
  }
  [[nodiscard]] Nanoseconds Usage() const {
    os::ReadBuffer buffer;
    const auto dir = os::OpenDir(path_);
    return dir ? cgroup::ReadUsage(dir->get(), version_, buffer).value_or(Nanoseconds{-1}) : Nanoseconds{-1};
  }
  [[nodiscard]] bool is_unified() const { return version_ == cgroup::Version::kUnified; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  TestCgroup() = default;
  std::string name_;
  std::string path_;
  cgroup::Version version_ = cgroup::Version::kUnified;
};

}  // namespace kepler::activity
