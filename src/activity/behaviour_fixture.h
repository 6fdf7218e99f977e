#pragma once
// For tests: a source under test, and what its scans gave out, by cgroup and by process. See behaviour_suite.h.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "activity/activity_source.h"
#include "activity/live_test_util.h"
#include "os/procfs.h"

namespace kepler::activity {

/// What sources differ in; each is tested in both directions, and shown in the test report.
struct Guarantees {
  /// A process that came and went between two scans is reported by itself, not only as time of its cgroup.
  bool names_short_lived_processes = false;
  /// The last slice of a process goes to the process.
  bool reports_last_slice = false;
  /// Time of a cgroup that is gone goes to that cgroup; else to its parent.
  bool remembers_gone_cgroups = false;
  /// How far the time given to a cgroup may be off its own usage.
  double max_relative_error = 0;
};

/// What an attempt did not see, and how many ends must have gone unreported for that; 0 ends: nothing is missing.
struct Miss {
  uint64_t ends = 0;
  std::string what{};
};

template <class Factory>
class ActivityBehaviour : public ::testing::Test {
 protected:
  static constexpr Guarantees kGuarantees = Factory::kGuarantees;
  static constexpr int kMaxAttempts = 4;

  void SetUp() override {
    RecordProperty("names_short_lived_processes", kGuarantees.names_short_lived_processes ? 1 : 0);
    RecordProperty("reports_last_slice", kGuarantees.reports_last_slice ? 1 : 0);
    RecordProperty("remembers_gone_cgroups", kGuarantees.remembers_gone_cgroups ? 1 : 0);
    source_ = Factory::Make(clock_);
    ASSERT_NE(source_, nullptr);
  }

  void Scan() {
    const auto status = source_->Sample(sample_);
    ASSERT_TRUE(status) << status.error().message;
    for (const auto& process : sample_.processes) {
      Give(*process.info->cgroup, process.cpu);
      given_to_slot_[process.slot] += process.cpu;
    }
    for (const auto& short_lived : sample_.short_lived) {
      Give(*short_lived.cgroups, short_lived.cpu);
      ++short_lived_[std::string(short_lived.comm)];
    }
    for (const auto& residual : sample_.residuals) given_[residual.cgroup->path] += residual.cpu;
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
  /// The worker's step, while another thread drains the kernel's reports of this worker and of the machine.
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
  /// Records of the dead come late, by the kernel's RCU: scans until `done`, for some seconds at most.
  template <class Done>
  [[nodiscard]] bool ScanUntil(Done done, int max_scans = 500) {
    for (int scan = 0; scan < max_scans; ++scan) {
      Scan();
      if (done()) return true;
      ::usleep(20'000);
    }
    return false;
  }
  /// Some sandboxes' kernels run no BPF program on top of a thread of process 1, and so keep a few ends from everybody.
  /// A miss is excused, and the attempt repeated, only where the source itself has counted as many ends without a
  /// record as explain it. Each repeat is printed.
  template <class Attempt>
  void RepeatWhereUnreported(Attempt attempt) {
    for (int number = 1;; ++number) {
      const uint64_t before = Unreported();
      const Miss miss = attempt();
      if (miss.ends == 0 || this->HasFailure()) return;
      // Ends of other tasks between two scans hide unreported ones until the machine is quiet (unreported_ends.h).
      const bool excused = ScanUntil([&] { return Unreported() - before >= miss.ends; });
      ASSERT_TRUE(excused) << miss.what << " is a miss of " << miss.ends << " ends; " << Unreported() - before
                           << " were counted as unreported";
      ASSERT_LT(number, kMaxAttempts) << miss.what;
      std::printf("attempt %d of %d: %s, %llu ends were unreported\n", number, kMaxAttempts, miss.what.c_str(),
                  static_cast<unsigned long long>(Unreported() - before));
    }
  }
  /// Ends that the source knows of by their number alone.
  [[nodiscard]] uint64_t Unreported() const {
    uint64_t ends = 0;
    for (const auto& records : source_->status().records)
      if (records.kind == "unreported") ends += records.dropped;
    return ends;
  }
  [[nodiscard]] const ProcessSample* Find(pid_t pid) const {
    const auto found =
        std::ranges::find_if(sample_.processes, [&](const auto& process) { return process.info->key.tgid == pid; });
    return found == sample_.processes.end() ? nullptr : &*found;
  }
  /// What all scans together gave out to the cgroup: to its processes, living and dead, and as its residual.
  [[nodiscard]] Nanoseconds GivenTo(const std::string& cgroup) const {
    const auto found = given_.find(cgroup);
    return found == given_.end() ? Nanoseconds{0} : found->second;
  }
  void Forget() {
    given_.clear();
    given_to_slot_.clear();
    short_lived_.clear();
    ended_.clear();
  }
  static double ToDouble(Nanoseconds time) { return static_cast<double>(time.count()); }

  SystemClock clock_;
  std::unique_ptr<ActivitySource> source_;
  ActivitySample sample_;
  std::map<std::string, int> short_lived_;     // by comm, of all scans
  std::map<Slot, Nanoseconds> given_to_slot_;  // of all scans
  std::set<Slot> ended_;

 private:
  void Give(const cgroup::Membership& cgroups, Nanoseconds time) {
    std::set<std::string> paths;
    for (const auto& line : cgroups.lines) paths.insert(line.path);
    for (const auto& path : paths) given_[path] += time;
  }

  std::map<std::string, Nanoseconds> given_;
  std::map<Slot, cgroup::MembershipPtr> cgroup_of_;
};

}  // namespace kepler::activity
