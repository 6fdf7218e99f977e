// Virtual machines that two processes claim: the better evidence decides and is logged.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "pipeline/node_tick_vm_test_util.h"

namespace kepler::pipeline {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

size_t CountOf(const std::string& what, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_F(NodeTickVm, ProcessInTheMachinesScope_TakesOverFromOneThatOnlySaysSo) {
  node_.Second(0);
  StartThief();
  node_.Second(10);
  EXPECT_EQ(Vms(), "7f1d stolen 5 running\n");
  ::testing::internal::CaptureStdout();
  StartOwner();
  Again(1);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n") << "in the tick that shows it";
  EXPECT_EQ(Process(20), "vm 7f1d 5");
  EXPECT_EQ(Process(10), "regular  5") << "a series of its own";
  EXPECT_EQ(Unlisted0(*node_.Latest(), Level::kVm, Unlisted::kDeparted), 5) << "what was booked stays booked";
  EXPECT_EQ(Unlisted0(*node_.Latest(), Level::kProcess, Unlisted::kDeparted), 5);
  for (int i = 0; i < 3; ++i) {
    Again(0);
    Again(1);
    node_.Second(20);
  }
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(Vms(), "7f1d web 20 running\n");
  EXPECT_EQ(Process(10), "regular  20");
  EXPECT_EQ(Unlisted0(*node_.Latest(), Level::kVm, Unlisted::kDeparted), 5);
  EXPECT_EQ(node_.Latest()->pipeline.refused_claims.vms, 1u);
  const std::string said = "pid=20 uid=1000 evidence=scope former_pid=10 former_uid=1001 former_evidence=name";
  EXPECT_NE(log.find(said), std::string::npos) << log;
  EXPECT_EQ(log.find("vm_id=7f1d"), log.rfind("vm_id=7f1d")) << log;
}

TEST_F(NodeTickVm, RestartedWhileAnotherWaits_IsBackAtOnce) {
  RefuseThief();
  node_.activity.Exit(0);
  Again(1);
  node_.Second(4);
  ASSERT_EQ(Vms(), "7f1d stolen 2 running\n");
  Start({.slot = 2, .pid = 30, .uid = 1000, .name = "web", .cgroup = std::string(kScope), .start = 9});
  Again(1);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
  EXPECT_EQ(Process(10), "regular  5");
}

TEST_F(NodeTickVm, RootsProcess_TakesOverFromAUsers) {
  node_.Second(0);
  StartThief();
  node_.Second(10);
  Start({.slot = 0, .pid = 20, .uid = 0, .name = "web"});
  node_.Second(10);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
}

TEST_F(NodeTickVm, RootOfAContainer_IsRefused) {
  node_.Second(0);
  StartThief();
  node_.Second(10);
  Start({.slot = 0, .pid = 20, .uid = 0, .name = "web", .cgroup = kBox});
  node_.Second(10);
  EXPECT_EQ(Vms(), "7f1d stolen 5 running\n");
}

TEST_F(NodeTickVm, FormerOneIsSlowToRead_IsTheVmAgainAfterItsSuccessor) {
  node_.Second(0);
  StartThief();
  node_.Second(10);
  Hold("10/cmdline");
  StartOwner();
  node_.Second(10);
  ASSERT_EQ(Vms(), "7f1d web 5 running\n");
  Release("10/cmdline");
  StartThief();  // writes the file again
  node_.activity.Exit(0);
  const auto is_vm = [&] { return Process(10).starts_with("vm 7f1d"); };
  for (int i = 0; i < 10'000 && !is_vm(); ++i) {
    std::this_thread::yield();
    node_.Second(0);
  }
  EXPECT_TRUE(is_vm()) << Process(10);
}

TEST_F(NodeTickVm, AnotherOfTheSameEvidence_IsRefused) {
  node_.Second(0);
  Start({.slot = 1, .pid = 10, .uid = 0, .name = "first"});
  node_.Second(10);
  Start({.slot = 0, .pid = 20, .uid = 0, .name = "second", .cgroup = "/a"});
  node_.Second(10);
  node_.Second(0);
  EXPECT_EQ(Vms(), "7f1d first 5 running\n");
  EXPECT_EQ(node_.Latest()->pipeline.refused_claims.vms, 1u);
}

TEST_F(NodeTickVm, TwoProcessesOfTheOneThatIsTakenOver_BothArePlain) {
  node_.Second(0);
  StartThief();
  Start({.slot = 2, .pid = 11, .uid = 1001, .name = "stolen", .start = 6});
  node_.Second(20);
  ASSERT_EQ(Vms(), "7f1d stolen 10 running\n");
  StartOwner();
  Again(1);
  Again(2);
  node_.Second(30);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
  EXPECT_EQ(Process(10), "regular  5");
  EXPECT_EQ(Process(11), "regular  5");
}

TEST_F(NodeTickVm, TakenOverInTheTickInWhichItEnds_ItsLastSliceStaysItsOwn) {
  node_.Second(0);
  StartThief();
  node_.Second(10);
  node_.activity.processes.erase(1);
  node_.activity.exited.push_back({.slot = 1, .cpu = milliseconds(400)});
  StartOwner();
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
  EXPECT_EQ(Unlisted0(*node_.Latest(), Level::kVm, Unlisted::kDeparted), 10);
}

TEST_F(NodeTickVm, RefusedProcess_IsReportedOnceWithBothOwners) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  StartThief();
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 5; ++i) node_.Second(1);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("vm_id=7f1d hypervisor=kvm pid=10 uid=1001 owner_pid=20 owner_uid=1000"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("vm_id"), text.rfind("vm_id"));
}

/// Several machines. A user can choose any number of ids, but has only one uid.
class NodeTickVms : public NodeTickVm {
 protected:
  /// One process for each machine, in slots and pids from those of `first` on.
  void StartEach(Hypervisor first) {
    for (const char* id : {"a1", "b2", "c3"}) {
      first.id = id;
      Start(first);
      ++first.slot;
      ++first.pid;
    }
    node_.Second(0);
  }
  void StartOwners(activity::Slot first) {
    StartEach({.slot = first, .pid = 20, .uid = 1000, .name = "web", .cgroup = std::string(kScope)});
  }
};

TEST_F(NodeTickVms, TakeoversFromOneUser_AreLoggedOnce) {
  node_.Second(0);
  StartEach({.slot = 0, .pid = 10, .uid = 1001, .name = "stolen"});
  ::testing::internal::CaptureStdout();
  StartOwners(3);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(node_.Latest()->pipeline.refused_claims.vms, 3u);
  EXPECT_EQ(CountOf("former_uid=1001", log), 1u) << log;
}

TEST_F(NodeTickVms, RefusedClaimsOfOneUser_AreLoggedOnce_AndThoseOfAnotherToo) {
  node_.Second(0);
  StartOwners(0);
  ::testing::internal::CaptureStdout();
  StartEach({.slot = 3, .pid = 10, .uid = 1001, .name = "stolen", .start = 5});
  StartEach({.slot = 6, .pid = 30, .uid = 1002, .name = "stolen", .start = 5});
  for (int i = 0; i < 3; ++i) node_.Second(0);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(node_.Latest()->pipeline.refused_claims.vms, 6u);
  EXPECT_EQ(CountOf(" uid=1001 ", log), 1u) << log;
  EXPECT_EQ(CountOf(" uid=1002 ", log), 1u) << log;
}

TEST_F(NodeTickVm, RefusedProcessWithADelayedEnvironment_IsReportedOnce) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  node_.proc.MakeDir("10");
  Hold("10/environ");
  const std::string box = "/system.slice/docker-" + std::string(64, 'a') + ".scope";
  Start({.slot = 1, .pid = 10, .uid = 1001, .name = "stolen", .cgroup = box, .start = 5});
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 3; ++i) node_.Second(1);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("vm_id=7f1d hypervisor=kvm pid=10"), std::string::npos) << text;
  EXPECT_EQ(text.find("vm_id"), text.rfind("vm_id"));
  Release("10/environ");
}

}  // namespace
}  // namespace kepler::pipeline
