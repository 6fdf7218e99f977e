#include "pipeline/workload_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cgroup/owner_test_util.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/fifo.h"

namespace kepler::pipeline {
namespace {

using std::chrono::seconds;

/// Two users' processes that say that they are the virtual machine "7f1d".
class WorkloadIndexTest : public ::testing::Test {
 protected:
  WorkloadIndexTest() {
    Add(0, 20, 1000, "/machine.slice/machine-qemu\\x2d1.scope");
    Scan();
    Add(1, 10, 1001, "/");
  }
  void Add(activity::Slot slot, int32_t pid, uint32_t uid, std::string cgroup) {
    cgroup::ProcessInfo& info = processes_[slot];
    info.key = {pid, slot + 1};
    info.comm = "qemu-system-x86";
    info.exe = "/usr/bin/qemu-system-x86_64";
    info.cgroup = cgroup::MembershipOf(os::CgroupLines{{0, "", std::move(cgroup)}});
    proc_.Write(fmt::format("{}/status", pid), fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}\n", uid));
    proc_.Write(fmt::format("{}/cmdline", pid), fmt::format("qemu{0}-uuid{0}7f1d{0}-name{0}web{0}", '\0'));
    sample_.processes.push_back({slot, &info, 1, seconds(1), {}});
  }
  void Scan() {
    sample_.taken_at += seconds(1);
    ledger_.BeginTick(sample_.taken_at);
    index_.Apply(sample_, {});
    ledger_.Settle({}, attribution::Scan::kDone);
    index_.Forget(ledger_.closed_containers(), ledger_.closed_pods());
  }
  /// What prctl(PR_SET_NAME) lets anybody do at any time.
  void Rename(activity::Slot slot, std::string comm) {
    processes_[slot].comm = std::move(comm);
    ++sample_.processes[slot].version;
  }

  testing::FakeTree proc_;
  testing::FakeClock clock_;
  workload::Resolver resolver_{proc_.root(), clock_};
  attribution::Ledger ledger_{{}};
  WorkloadIndex index_{resolver_, nullptr, ledger_, kMaxLabelBytes};
  std::array<cgroup::ProcessInfo, 2> processes_;
  activity::ActivitySample sample_;
};

TEST_F(WorkloadIndexTest, RefusedProcessRenamesItselfAtEachScan_IsOneRefusalAndReportedOnce) {
  ::testing::internal::CaptureStdout();
  size_t max = 0;
  for (int i = 0; i < 2'000; ++i) {  // longer than a log line is suppressed for
    Rename(1, fmt::format("qemu-{}", i));
    Scan();
    max = std::max(max, index_.refused());
  }
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(max, 1u);
  EXPECT_NE(log.find("vm_id=7f1d"), std::string::npos) << log;
  EXPECT_EQ(log.find("vm_id"), log.rfind("vm_id")) << log;
}

TEST_F(WorkloadIndexTest, RefusedProcessIsSomethingElseFromThenOn_IsNoRefusal) {
  Scan();
  ASSERT_EQ(index_.refused(), 1u);
  processes_[1].exe = "/bin/sh";
  Rename(1, "sh");
  Scan();
  EXPECT_EQ(index_.refused(), 0u);
}

TEST_F(WorkloadIndexTest, RefusedProcessThatWasDelayedIsAnotherVm_IsNoRefusal) {
  const std::string box = "/docker/" + std::string(64, 'a');
  processes_[1].cgroup = cgroup::MembershipOf(os::CgroupLines{{0, "", box}});
  const std::string environ = proc_.Path("10/environ");
  testing::MakeFifo(environ);
  Scan();
  ASSERT_EQ(index_.refused(), 1u);
  testing::ReleaseFifo(environ);
  proc_.Remove("10/environ");
  proc_.Write("10/environ", "");
  proc_.Write("10/cmdline", fmt::format("qemu{0}-uuid{0}8a2e{0}", '\0'));
  // Its reader comes back when the kernel lets it.
  for (int i = 0; i < 100'000 && index_.refused() > 0; ++i) {
    Scan();
    clock_.Advance(seconds(10));
    std::this_thread::yield();
  }
  EXPECT_EQ(index_.refused(), 0u);
  EXPECT_NE(ledger_.vms().Find(snapshot::VmIdentity{"8a2e", "", "kvm"}), attribution::kNoRow);
}

TEST_F(WorkloadIndexTest, OwnerEnds_RefusedProcessIsAskedOnce) {
  Scan();
  sample_.exited.push_back({.slot = 0});
  sample_.processes.erase(sample_.processes.begin());
  Scan();
  sample_.exited.clear();
  Scan();
  EXPECT_EQ(index_.refused(), 0u);
}

}  // namespace
}  // namespace kepler::pipeline
