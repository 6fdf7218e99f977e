// Order and retries of reading the descriptors of processes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>

#include "base/text.h"
#include "cgroup/owner_test_util.h"
#include "pipeline/workload_index.h"
#include "testing/fake_tree.h"

namespace kepler::pipeline {
namespace {

using std::chrono::milliseconds;

/// Each reading of the clock advances it.
class StepClock final : public Clock {
 public:
  [[nodiscard]] BootTime Now() const override { return now_ += step; }
  [[nodiscard]] WallTime Wall() const override { return {}; }

  milliseconds step{0};

 private:
  mutable BootTime now_{std::chrono::hours(1)};
};

/// Programs that nobody knows by name.
class WorkloadIndexKvm : public ::testing::Test {
 protected:
  WorkloadIndexKvm() { proc_.Write("misc", "232 kvm\n"); }
  void Add(int32_t pid, milliseconds cpu) {
    cgroup::ProcessInfo& info = processes_.emplace_back();
    info.key = {pid, 1};
    info.comm = "vmm";
    info.exe = "/opt/acme/vmm";
    info.cgroup = cgroup::MembershipOf(os::CgroupLines{{0, "", "/"}});
    proc_.Write(fmt::format("{}/status", pid), "Uid:\t0\t0\t0\t0\n");
    proc_.Write(fmt::format("{}/cmdline", pid), fmt::format("vmm{0}-uuid{0}{1}{0}", '\0', pid));
    proc_.MakeDir(fmt::format("{}/fd", pid));
    sample_.processes.push_back({static_cast<activity::Slot>(processes_.size() - 1), &info, 1, cpu, {}});
  }
  void MakeMachine(int32_t pid) { proc_.Symlink(fmt::format("{}/fd/7", pid), "anon_inode:kvm-vm"); }
  void Scan() {
    sample_.taken_at += std::chrono::seconds(1);
    ledger_.BeginTick(sample_.taken_at);
    index_.Apply(sample_, {});
    ledger_.Settle({}, attribution::Scan::kDone);
    index_.Forget(ledger_.closed_containers(), ledger_.closed_pods());
  }
  /// Whether that process is its own machine.
  bool IsVm(int32_t pid) {
    const auto row = ledger_.vms().Find(snapshot::VmIdentity{std::to_string(pid), "", "kvm"});
    return row != attribution::kNoRow && ledger_.vms().running(row);
  }

  testing::FakeTree proc_;
  StepClock clock_;
  workload::Resolver resolver_{proc_.root(), clock_};
  attribution::Ledger ledger_{{}};
  WorkloadIndex index_{resolver_, nullptr, ledger_, kMaxLabelBytes};
  std::deque<cgroup::ProcessInfo> processes_;
  activity::ActivitySample sample_;
};

TEST_F(WorkloadIndexKvm, LooksAreUsedUpByOthersInEachScan_EachHasItsTurn) {
  clock_.step = milliseconds(13);  // time for two looks in a scan
  for (const int32_t pid : {10, 11, 12, 13, 30}) Add(pid, milliseconds(100));
  MakeMachine(30);
  for (int scan = 0; scan < 3; ++scan) {
    EXPECT_FALSE(IsVm(30)) << scan;
    Scan();
    for (auto& process : sample_.processes) process.cpu *= 4;  // each must be read each time
  }
  EXPECT_TRUE(IsVm(30));
}

TEST_F(WorkloadIndexKvm, ChangedAndNoAnswer_StaysTheVmUntilThereIsOne) {
  Add(10, milliseconds(100));
  MakeMachine(10);
  Scan();
  ASSERT_TRUE(IsVm(10));
  proc_.Remove("10/fd");
  proc_.Symlink("10/fd", "fd");  // leads to itself, which is no answer
  ++sample_.processes[0].version;
  for (int i = 0; i < 10; ++i) Scan();
  EXPECT_TRUE(IsVm(10));
  proc_.Remove("10/fd");
  proc_.MakeDir("10/fd");
  for (int i = 0; i < 5; ++i) Scan();  // at most four until the retry
  EXPECT_FALSE(IsVm(10));
}

TEST_F(WorkloadIndexKvm, NoAnswerAtTheFirstLook_IsAskedAtTheNextScan) {
  Add(10, milliseconds(100));
  proc_.Remove("10/fd");
  proc_.Symlink("10/fd", "fd");
  Scan();
  proc_.Remove("10/fd");
  MakeMachine(10);
  sample_.processes[0].cpu = {};
  Scan();
  EXPECT_TRUE(IsVm(10));
}

/// Two programs with the name and the id of one virtual machine, of a user each.
class ClaimedMachine : public WorkloadIndexKvm {
 protected:
  void Claim(int32_t pid, uint32_t uid) {
    Add(pid, milliseconds(10));
    processes_.back().exe = "/usr/bin/qemu-system-x86_64";
    processes_.back().cgroup = cgroup::MembershipOf(os::CgroupLines{{0, "", fmt::format("/{}", pid)}});
    proc_.Write(fmt::format("{}/status", pid), fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\n", uid));
    proc_.Write(fmt::format("{}/cmdline", pid), fmt::format("qemu{0}-uuid{0}7f1d{0}-name{0}{1}{0}", '\0', pid));
  }
  void Use(size_t number, milliseconds cpu) { sample_.processes[number].cpu = cpu; }
  std::string Name() {
    const auto row = ledger_.vms().Find(snapshot::VmIdentity{"7f1d", "", "kvm"});
    return row == attribution::kNoRow ? "" : ledger_.vms().identity(row).name;
  }
};

TEST_F(ClaimedMachine, WhoHoldsAMachine_TakesOverFromWhoDoesNot) {
  Claim(10, 1001);
  Scan();
  Claim(11, 1000);
  MakeMachine(11);
  Scan();
  EXPECT_EQ(Name(), "10") << "it has not used enough CPU time to be read";
  Use(1, milliseconds(100));
  Scan();
  EXPECT_EQ(Name(), "11");
  EXPECT_EQ(index_.refused(), 1u);
}

TEST_F(ClaimedMachine, WhoHasBeenTheMachine_IsLookedAtBeforeItLosesIt) {
  Claim(10, 0);
  MakeMachine(10);
  Scan();
  Claim(11, 1000);
  MakeMachine(11);
  Use(1, milliseconds(100));
  for (int i = 0; i < 3; ++i) Scan();
  EXPECT_EQ(Name(), "10") << "both hold one, and root's is root's";
}

TEST_F(ClaimedMachine, NoAnswerWhetherItHoldsOne_KeepsItUntilThereIs) {
  Claim(10, 1001);
  proc_.Remove("10/fd");
  proc_.Symlink("10/fd", "fd");  // leads to itself
  Scan();
  Claim(11, 0);
  Scan();
  EXPECT_EQ(Name(), "10");
  proc_.Remove("10/fd");
  proc_.MakeDir("10/fd");
  for (int i = 0; i < 5; ++i) Scan();  // at most four until the retry
  EXPECT_EQ(Name(), "11");
}

TEST_F(ClaimedMachine, RefusedAtEachScan_LooksAtNobodyAgain) {
  Claim(10, 0);
  MakeMachine(10);
  Scan();
  Claim(11, 1001);
  MakeMachine(11);
  Use(1, milliseconds(100));
  Scan();
  proc_.Remove("10/fd");
  for (int i = 0; i < 10; ++i) {
    ++sample_.processes[1].version;
    Scan();
  }
  EXPECT_EQ(Name(), "10") << "what is known of it counts";
}

}  // namespace
}  // namespace kepler::pipeline
