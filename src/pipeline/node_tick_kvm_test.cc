// Virtual machines of programs that nobody knows by name, found by the descriptor of a machine of KVM.
#include <gtest/gtest.h>

#include <string>

#include "pipeline/node_tick_vm_test_util.h"

namespace kepler::pipeline {
namespace {

using std::chrono::milliseconds;

class NodeTickKvm : public NodeTickVm {
 protected:
  NodeTickKvm() { node_.proc.Write("misc", "232 kvm\n"); }
  void StartVmm(milliseconds cpu, const std::string& cgroup = "/") {
    auto& process = node_.activity.Start(0, 20, "vmm", cgroup);
    process.info.exe = "/opt/acme/vmm";
    process.cpu = cpu;
    node_.proc.Write("20/status", "Uid:\t0\t0\t0\t0\n");
    node_.proc.Write("20/cmdline", fmt::format("vmm{0}-name{0}web{0}-uuid{0}web{0}", '\0'));
    node_.proc.Write("20/environ", "");
  }
  void MakeMachine() { node_.proc.Symlink("20/fd/7", "anon_inode:kvm-vm"); }
  void Run(milliseconds cpu) { node_.activity.processes[0].cpu = cpu; }
};

TEST_F(NodeTickKvm, UnknownProgramWithAMachine_IsAVm) {
  node_.Second(0);
  StartVmm(milliseconds(400));
  MakeMachine();
  node_.Second(10);
  EXPECT_EQ(Vms(), "web web 5 running\n");
  EXPECT_EQ(Process(20), "vm web 5");
}

TEST_F(NodeTickKvm, MachineInAPod_IsItsContainersAndItsPodsToo) {
  node_.Second(0);
  const std::string pod = "/kubepods/pod1b1d9e4e-0a3c-4f0e-9d3c-2f0a6b0c7d5e/" + std::string(64, 'a');
  StartVmm(milliseconds(400), pod);
  node_.activity.Start(1, 21, "virt-launcher", pod).cpu = milliseconds(100);
  MakeMachine();
  node_.Second(10);
  EXPECT_EQ(Vms(), "web web 4 running\n");
  EXPECT_EQ(Process(20), "container web 4");
  const auto snapshot = node_.Latest();
  ASSERT_EQ(snapshot->containers.rows(), 1U);
  ASSERT_EQ(snapshot->pods.rows(), 1U);
  EXPECT_EQ(Joules(snapshot->containers.energy_at(0, 0)), 5);
  EXPECT_EQ(snapshot->pods.energy_at(0, 0), snapshot->containers.energy_at(0, 0));
}

TEST_F(NodeTickKvm, MachineMadeLater_IsFoundWhenTwiceAsMuchHasRun) {
  node_.Second(0);
  StartVmm(milliseconds(100));
  node_.Second(4);
  MakeMachine();
  Run(milliseconds(99));
  node_.Second(4);
  EXPECT_EQ(Vms(), "");
  Run(milliseconds(1));
  node_.Second(4);
  EXPECT_EQ(Vms(), "web web 2 running\n");
}

TEST_F(NodeTickKvm, HardlyRuns_IsNotLookedAt) {
  node_.Second(0);
  StartVmm(milliseconds(99));
  MakeMachine();
  node_.Second(10);
  EXPECT_EQ(Vms(), "");
  EXPECT_EQ(Process(20), "regular  5");
}

TEST_F(NodeTickKvm, NameOfItsCommChanges_StaysTheVm) {
  node_.Second(0);
  StartVmm(milliseconds(400));
  MakeMachine();
  node_.Second(10);
  node_.activity.processes[0].version = 2;
  Run(milliseconds(400));
  node_.Second(10);
  EXPECT_EQ(Vms(), "web web 10 running\n");
}

TEST_F(NodeTickKvm, ExecutesSomethingElse_IsAVmNoMore) {
  node_.Second(0);
  StartVmm(milliseconds(400));
  MakeMachine();
  node_.Second(10);
  StartVmm(milliseconds(400));
  node_.activity.processes[0].version = 2;
  node_.activity.processes[0].info.exe = "/bin/sh";
  node_.proc.Remove("20/fd/7");
  node_.Second(10);
  EXPECT_EQ(Vms(), "web web 5 terminated\n");
  EXPECT_EQ(Process(20), "regular  5");
}

TEST_F(NodeTickKvm, VmmExecutesItselfAgain_ItsNextMachineIsFoundAfterAsMuchAsTheFirst) {
  node_.Second(0);
  StartVmm(milliseconds(4000));
  MakeMachine();
  node_.Second(10);
  EXPECT_EQ(Vms(), "web web 5 running\n");
  node_.proc.Remove("20/fd/7");
  node_.activity.processes[0].version = 2;  // its comm, the program is the same
  node_.Second(4);
  EXPECT_EQ(Vms(), "web web 5 terminated\n");
  MakeMachine();
  Run(milliseconds(100));
  node_.Second(4);
  EXPECT_EQ(Vms(), "web web 7 running\n");
}

TEST_F(NodeTickKvm, PlainProcessExecutesAVmm_ItsMachineIsFoundAfterAsMuchAsAnybodys) {
  node_.Second(0);
  StartVmm(milliseconds(100'000));
  node_.activity.processes[0].info.exe = "/bin/sh";
  node_.Second(10);
  StartVmm(milliseconds(0));
  node_.activity.processes[0].version = 2;
  node_.Second(0);
  MakeMachine();
  Run(milliseconds(100));
  node_.Second(4);
  EXPECT_EQ(Vms(), "web web 2 running\n");
}

TEST_F(NodeTickKvm, AnotherActivitySourceTakesOver_StaysTheVm) {
  node_.Second(0);
  StartVmm(milliseconds(400));
  MakeMachine();
  node_.Second(10);
  node_.activity.renumbered = true;
  node_.activity.moved = {{.from = 0, .to = 0}};
  Run(milliseconds(50));
  node_.Second(10);
  EXPECT_EQ(Vms(), "web web 10 running\n");
}

TEST_F(NodeTickKvm, MachineOfAnotherOwner_IsAPlainProcess) {
  node_.Second(0);
  Start({.slot = 1, .pid = 30, .uid = 1000, .name = "web", .cgroup = std::string(kScope)});
  node_.proc.Write("30/cmdline", fmt::format("qemu{0}-uuid{0}web{0}", '\0'));
  node_.Second(4);
  StartVmm(milliseconds(400));
  MakeMachine();
  node_.Second(10);
  for (int i = 0; i < 3; ++i) {
    Run(milliseconds(400));
    node_.Second(10);
  }
  EXPECT_EQ(Vms(), "web kvm-web 2 running\n");
  EXPECT_EQ(Process(20), "regular  20");
}

}  // namespace
}  // namespace kepler::pipeline
