// Virtual machines: which process may be one, and the owner of the energy if two claim the same one.
#include <gtest/gtest.h>

#include <thread>

#include "pipeline/node_tick_vm_test_util.h"

namespace kepler::pipeline {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

TEST_F(NodeTickVm, AnotherUserWithTheSameId_IsAPlainProcess) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  Again(0);
  StartThief();
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 10 running\n");
  EXPECT_EQ(Process(20), "vm 7f1d 10");
  EXPECT_EQ(Process(10), "regular  5");
  EXPECT_EQ(Unlisted0(*node_.Latest(), Level::kVm, Unlisted::kOutside), 5);
}

TEST_F(NodeTickVm, AnotherActivitySourceTakesOver_NothingChanges) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  Again(0);
  StartThief();
  node_.Second(20);
  node_.activity.processes.clear();
  Start({.slot = 0, .pid = 10, .uid = 1001, .name = "stolen", .start = 5});
  Start({.slot = 3, .pid = 20, .uid = 1000, .name = "web", .cgroup = std::string(kScope)});
  node_.activity.renumbered = true;
  node_.activity.moved = {{1, 0}, {0, 3}};
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 15 running\n");
  EXPECT_EQ(Process(20), "vm 7f1d 15");
  EXPECT_EQ(Process(10), "regular  10");
  for (const activity::Slot slot : {0u, 3u}) Again(slot);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 20 running\n");
  EXPECT_EQ(Process(10), "regular  15");
}

TEST_F(NodeTickVm, ThiefInAContainer_IsAPlainProcessOfIt) {
  node_.Second(0);
  StartOwner();
  node_.Second(0);
  Start({.slot = 1, .pid = 10, .uid = 1000, .name = "stolen", .cgroup = kBox});  // the same user, but not its cgroup
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 0 running\n");
  EXPECT_EQ(Process(10), "container  10");
}

TEST_F(NodeTickVm, BothAreThereWhenTheAgentStarts_TheOlderIsTheVm) {
  StartOwner();
  StartThief();  // its pid is the lower one: pids wrap around
  node_.Second(0);
  Again(0);
  Again(1);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
  EXPECT_EQ(Process(10), "regular  5");
}

TEST_F(NodeTickVm, OwnerEnds_TheOtherIsTheVmFromThenOn) {
  RefuseThief();
  node_.activity.Exit(0);
  Again(1);
  node_.Second(4);
  EXPECT_EQ(Vms(), "7f1d stolen 2 running\n");
  EXPECT_EQ(Process(10), "vm 7f1d 2");
  EXPECT_EQ(Unlisted0(*node_.Latest(), Level::kVm, Unlisted::kDeparted), 5);
}

TEST_F(NodeTickVm, RestartedBetweenTwoScansInAnotherScope_IsPreferredToWhoWaits) {
  RefuseThief();
  RestartOwner();
  Again(1);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
  EXPECT_EQ(Process(10), "regular  10");
}

TEST_F(NodeTickVm, ItsCgroupChanges_TheVmGoesOn) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  auto& moved = Start({.slot = 0, .pid = 20, .uid = 107, .name = "web", .cgroup = std::string(kScope) + "/emulator"});
  moved.version = 2;
  node_.Second(10);
  EXPECT_EQ(Vms(), "7f1d web 10 running\n");
}

TEST_F(NodeTickVm, RefusedProcessEndsAndItsSlotIsUsedAgain_NobodyIsMistaken) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  StartThief();
  node_.Second(0);
  node_.activity.Exit(1);
  node_.Second(0);
  node_.activity.Start(1, 11, "sh").cpu = milliseconds(400);
  node_.activity.Exit(0);
  node_.Second(4);
  EXPECT_EQ(Process(11), "regular  2");
  EXPECT_EQ(Vms(), "7f1d web 5 terminated\n");
}

TEST_F(NodeTickVm, RestartedInAnotherScope_IsPreferredToWhoWaitsUnderANewName) {
  RefuseThief();
  RestartOwner();
  node_.activity.processes[1].version = 2;
  Again(1);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
  EXPECT_EQ(Process(10), "regular  10");
}

TEST_F(NodeTickVm, RestartedInAnotherScope_IsPreferredToADelayedOneThatWaits) {
  RefuseThief();
  Hold("10/cmdline");
  node_.activity.processes[1].version = 2;
  node_.Second(10);
  Release("10/cmdline");
  StartThief();
  // Nobody knows what it claims, nor reads it soon, however soon its last reader is back.
  for (int i = 0; i < 100; ++i) {
    node_.tick->Run(0);
    std::this_thread::yield();
  }
  node_.clock.Advance(std::chrono::minutes(1));  // it may be read again
  RestartOwner();
  node_.activity.processes[1].version = 3;
  Again(1);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
  EXPECT_EQ(Process(10).substr(0, 9), "regular  ");
}

TEST_F(NodeTickVm, RestartedWhileTheSourceChanges_IsPreferredToWhoWaits) {
  RefuseThief();
  RestartOwner();
  node_.activity.renumbered = true;
  node_.activity.moved = {{.from = 1, .to = 1}};
  Again(1);
  node_.Second(20);
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
}

TEST_F(NodeTickVm, RestartedBetweenTwoScans_IsNotReported) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  ::testing::internal::CaptureStdout();
  Start({.slot = 2, .pid = 30, .uid = 1000, .name = "web", .cgroup = "/machine.slice/b.scope", .start = 9});
  node_.Second(1);  // the old one's end is not known yet
  node_.activity.Exit(0);
  Again(2);
  node_.Second(2);
  EXPECT_EQ(::testing::internal::GetCapturedStdout().find("vm_id"), std::string::npos);
  EXPECT_EQ(Vms(), "7f1d web 1 running\n");
}

TEST_F(NodeTickVm, CommandLineThatKeepsItsReaderWaiting_IsAPlainProcessUntilItCanBeRead) {
  Start({.slot = 0, .pid = 20, .uid = 1000, .name = "web"});
  Hold("20/cmdline");
  node_.Second(0);
  Again(0);
  node_.Second(10);
  EXPECT_EQ(Vms(), "");
  EXPECT_EQ(Process(20), "regular  5");
  // Its reader finds an empty file, and the next one what was there before.
  Release("20/cmdline");
  Start({.slot = 0, .pid = 20, .uid = 1000, .name = "web"});
  for (int i = 0; i < 10'000 && node_.Latest()->vms.rows() == 0; ++i) {
    std::this_thread::yield();
    Again(0);
    node_.Second(10);
  }
  EXPECT_EQ(Vms(), "7f1d web 5 running\n");
}

TEST_F(NodeTickVm, CommandLineDelayedOnce_TheVmStaysItself) {
  node_.Second(0);
  StartOwner();
  node_.Second(10);
  ASSERT_EQ(Vms(), "7f1d web 5 running\n");
  Hold("20/cmdline");
  node_.activity.processes[0].version = 2;
  Again(0);
  node_.Second(10);
  EXPECT_EQ(Vms(), "7f1d web 10 running\n");
  Release("20/cmdline");
}

}  // namespace
}  // namespace kepler::pipeline
