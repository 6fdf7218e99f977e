#pragma once
// A kernel whose cgroups count what runs in them, and a source that loses what the test likes.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <optional>
#include <string>

#include "activity/bpf/fake_kernel_test_util.h"
#include "activity/bpf/usage_audit.h"

namespace kepler::activity::bpf {

/// Each reading advances the time.
class SlowClock final : public Clock {
 public:
  SlowClock(const Clock& clock, Nanoseconds step) : clock_(clock), step_(step) {}
  [[nodiscard]] BootTime Now() const override { return clock_.Now() + step_ * scans_++; }
  [[nodiscard]] WallTime Wall() const override { return clock_.Wall(); }

 private:
  const Clock& clock_;
  Nanoseconds step_;
  mutable int scans_ = 0;
};

class UsageAuditTest : public ::testing::Test {
 protected:
  UsageAuditTest() {
    kernel_.tree.MakeDir("proc");
    Use("", Nanoseconds{0});
    Use("/box", std::chrono::seconds(100));
    Use("/other", std::chrono::seconds(7));
    audit_.emplace(trees_, os::CgroupLines{});
    kernel_.Start({.tid = 1, .tgid = 1, .ran = 1000, .start = 5, .cgroup = IdOf("")});
    shell_cgroup_ = IdOf("/box");
    kernel_.Start({.tid = 10, .tgid = 10, .start = 6, .cgroup = shell_cgroup_});
    Scan();
  }

  /// The cgroup used `time` more, and so did its parents.
  void Use(const std::string& path, Nanoseconds time) {
    for (std::string at = path;; at = at.substr(0, at.rfind('/'))) {
      usage_[at] += time;
      cgroup_tree_.Write("cgroup" + at + "/cpu.stat", fmt::format("usage_usec {}\n", usage_[at].count() / 1000));
      cgroup_tree_.Write("cgroup" + at + "/cgroup.events", "populated 1\n");
      if (at.empty()) return;
    }
  }
  uint64_t IdOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(cgroup_tree_.Path("cgroup" + path).c_str(), &status), 0);
    return status.st_ino;
  }
  /// A process of /box comes, runs so long and goes; its record.
  kepler_task RunShortLived(Nanoseconds time, int pid = 50) {
    Use("/box", time);
    kernel_.Start({.tid = pid, .tgid = pid, .ran = static_cast<uint64_t>(time.count()), .cgroup = IdOf("/box")});
    kernel_.clock.Advance(std::chrono::milliseconds(1));
    return kernel_.End(pid);
  }
  /// The shell of /box runs on.
  void Run(Nanoseconds time) {
    Use("/box", time);
    kernel_.living.at(10).ran += static_cast<uint64_t>(time.count());
  }
  void Scan(Nanoseconds after = std::chrono::seconds(1)) {
    kernel_.clock.Advance(after);
    kernel_.sample = {};
    kernel_.cgroups.BeginScan(kernel_.clock.Now());
    audit_->BeforePass(kernel_.table, SlowClock(kernel_.clock, reading_takes_), losses_, status_);
    kernel_.table.BeginPass(kernel_.clock.Now());
    for (const auto& [tid, thread] : kernel_.living) kernel_.Show(thread);
    kernel_.EndScan();
    audit_->Book(kernel_.sample, kernel_.cgroups, kernel_.table);
    for (const auto& residual : kernel_.sample.residuals) charged_[residual.cgroup->path] += residual.cpu;
    given_ += Nanoseconds(static_cast<int64_t>(kernel_.Given()));
  }
  void ScanTwice() {
    for (int scan = 0; scan < 2; ++scan) Scan();
  }
  /// Loses 3 ms of a short-lived process, which the audit must then charge alone.
  void ExpectLossIsCharged() {
    RunShortLived(std::chrono::milliseconds(3), 99);
    ScanTwice();
    EXPECT_EQ(charged_, (std::map<std::string, Nanoseconds>{{"/box", std::chrono::milliseconds(3)}}));
  }
  /// To all and as residuals, since the first scan.
  [[nodiscard]] Nanoseconds GivenInAll() const {
    Nanoseconds sum = given_;
    for (const auto& [path, time] : charged_) sum += time;
    return sum;
  }
  void LoseSomething() { ++losses_; }

  testing::FakeTree cgroup_tree_;
  cgroup::Trees trees_{.cpuacct = std::nullopt,
                       .unified = cgroup::Tree{cgroup::Version::kUnified, cgroup_tree_.Path("cgroup")}};
  FakeKernel kernel_{trees_};
  std::optional<UsageAudit> audit_;
  status::ActivityStatus status_;
  uint64_t shell_cgroup_ = 0;
  uint64_t losses_ = 0;
  Nanoseconds reading_takes_{0};
  std::map<std::string, Nanoseconds> usage_;
  std::map<std::string, Nanoseconds> charged_;
  Nanoseconds given_{0};
};

}  // namespace kepler::activity::bpf
