#include "workload/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "testing/fifo.h"
#include "workload/patient_limits.h"

namespace kepler::workload {
namespace {

using std::string_view_literals::operator""sv;

const std::string kId(64, 'a');

class ResolverTest : public ::testing::Test {
 protected:
  static cgroup::ProcessInfo Process(int pid, std::string exe, const std::string& cgroup = "/system.slice/x.service") {
    cgroup::ProcessInfo process;
    process.key = {.tgid = pid, .start_ticks = 1000};
    process.exe = std::move(exe);
    process.comm = process.exe.substr(process.exe.rfind('/') + 1).substr(0, 15);
    process.cgroup = std::make_shared<cgroup::Membership>(os::CgroupLines{{0, "", cgroup}});
    return process;
  }
  static cgroup::ProcessInfo InContainer(int pid, std::string exe = "/usr/bin/burn") {
    return Process(pid, std::move(exe), "/system.slice/docker-" + kId + ".scope");
  }
  void Show(int pid, std::string_view environ, std::string_view cmdline) {
    tree_.Write(std::to_string(pid) + "/environ", environ);
    tree_.Write(std::to_string(pid) + "/cmdline", cmdline);
    SetUid(pid, 0);
  }
  void SetUid(int pid, uint32_t uid) {
    tree_.Write(std::to_string(pid) + "/status", "Name:\tx\nUid:\t" + std::to_string(uid) + "\t0\t0\t0\n");
  }
  /// Reading them would now fail and be counted.
  void Hide(int pid) {
    for (const auto* file : {"/environ", "/cmdline"}) {
      tree_.Remove(std::to_string(pid) + file);
      tree_.MakeDir(std::to_string(pid) + file);
    }
    SetUid(pid, 0);
  }
  /// One process each, which is gone before the next.
  void MeetOthers(int containers) {
    Show(99, "HOSTNAME=many\0"sv, "");
    for (int i = 1; i <= containers; ++i) {
      const auto digits = std::to_string(i);
      const auto path = "/docker/" + std::string(64 - digits.size(), '0') + digits;
      ASSERT_EQ(resolver_.Resolve(Process(99, "/bin/sh", path)).container_name, "many");
    }
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  Resolver resolver_{tree_.root(), clock_, kPatient};
};

TEST_F(ResolverTest, OrdinaryProcess_ReadsNothing) {
  Hide(10);
  const auto owner = resolver_.Resolve(Process(10, "/usr/sbin/sshd"));
  EXPECT_EQ(owner.cgroup, cgroup::Owner{});
  EXPECT_EQ(owner.container_name, "");
  EXPECT_FALSE(owner.vm);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, WithoutMembership_NobodyOwns) {
  auto process = Process(10, "/usr/sbin/sshd");
  process.cgroup = nullptr;
  EXPECT_EQ(resolver_.Resolve(process).cgroup, cgroup::Owner{});
}

TEST_F(ResolverTest, Container_NamedByEnvironment) {
  Show(10, "PATH=/\0HOSTNAME=web\0"sv, "burn\0--name=cmd\0"sv);
  const auto owner = resolver_.Resolve(InContainer(10));
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  EXPECT_EQ(owner.container_name, "web");
}

TEST_F(ResolverTest, EnvironmentWithoutName_NamedByArguments) {
  Show(10, "PATH=/\0"sv, "burn\0--name\0cmd\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "cmd");
}

TEST_F(ResolverTest, NameKnown_LaterProcessesAreNotRead) {
  Show(10, "HOSTNAME=web\0"sv, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
  Hide(11);
  EXPECT_EQ(resolver_.Resolve(InContainer(11)).container_name, "web");
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, NameUnknown_NextProcessIsAsked) {
  Show(10, "PATH=/\0"sv, "burn\0"sv);
  Show(11, "HOSTNAME=web\0"sv, "burn\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(11)).container_name, "web");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
}

TEST_F(ResolverTest, RuntimeBeforeExec_DoesNotLendItsCallersName) {
  Show(10, "HOSTNAME=host\0"sv, "runc\0init\0"sv);
  auto init = InContainer(10, "/memfd:runc_cloned:/proc/self/exe (deleted)");
  init.comm = "runc:[2:INIT]";
  EXPECT_EQ(resolver_.Resolve(init).container_name, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10, "/usr/bin/crun")).container_name, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10, "/bin/sh")).container_name, "host");
}

TEST_F(ResolverTest, ProcessGone_IsNormal) {
  const auto owner = resolver_.Resolve(InContainer(99));
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  EXPECT_EQ(owner.container_name, "");
  EXPECT_FALSE(resolver_.Resolve(Process(99, "/usr/bin/qemu-system-x86_64")).vm);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, Unreadable_IsCountedAndHasNoName) {
  Hide(10);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "");
  EXPECT_EQ(resolver_.reads_failed(), 2U);
}

TEST_F(ResolverTest, EnvironmentUnreadable_ArgumentsStillName) {
  Hide(10);
  tree_.Remove("10/cmdline");
  tree_.Write("10/cmdline", "burn\0--name=web\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
  EXPECT_EQ(resolver_.reads_failed(), 1U);
}

TEST_F(ResolverTest, NameBeyondTheBound_IsNotSeen) {
  Show(10, "LONG=" + std::string(64 << 10, 'x') + '\0' + "HOSTNAME=web" + '\0', "burn\0"sv);
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "");
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, NameOfAnyBytes_PassesThroughBounded) {
  Show(10, "HOSTNAME=a\"\n\xff" + std::string(300, 'b') + '\0', "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "a\"\n\xff" + std::string(251, 'b'));
}

TEST_F(ResolverTest, IdChosenByPeople_IsTheName) {
  Hide(10);
  EXPECT_EQ(resolver_.Resolve(Process(10, "/sbin/init", "/lxc.payload.box/init.scope")).container_name, "box");
  EXPECT_EQ(
      resolver_.Resolve(Process(10, "/sbin/init", "/machine.slice/systemd-nspawn@lab.service/payload")).container_name,
      "lab");
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, Hypervisor_IsAVm) {
  Show(10, "",
       "/usr/bin/qemu-system-x86_64\0-name\0guest=web,debug-threads=on\0-uuid\0"
       "7f1d\0"sv);
  const auto owner =
      resolver_.Resolve(Process(10, "/usr/bin/qemu-system-x86_64", "/machine.slice/machine-qemu\\x2d1.scope"));
  EXPECT_EQ(owner.vm, (snapshot::VmIdentity{"7f1d", "web", "kvm"}));
  EXPECT_EQ(owner.cgroup, cgroup::Owner{});
}

TEST_F(ResolverTest, HypervisorInAContainer_IsBoth) {
  Show(10, "HOSTNAME=virt-launcher\0"sv, "/usr/libexec/qemu-kvm\0-name\0guest=vm\0"sv);
  const auto owner = resolver_.Resolve(InContainer(10, "/usr/libexec/qemu-kvm"));
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  EXPECT_EQ(owner.container_name, "virt-launcher");
  EXPECT_EQ(owner.vm, (snapshot::VmIdentity{"vm", "vm", "kvm"}));
}

TEST_F(ResolverTest, HypervisorWithUnreadableArguments_IsAVmOfItsProcess) {
  Hide(10);
  const auto owner = resolver_.Resolve(Process(10, "/usr/bin/qemu-system-x86_64"));
  EXPECT_EQ(owner.vm, (snapshot::VmIdentity{"10-1000", "kvm-10-1000", "kvm"}));
  EXPECT_EQ(resolver_.reads_failed(), 1U);
}

TEST_F(ResolverTest, OwnerOfAVm_IsItsRealUserAndItsCgroups) {
  Show(10, "", "qemu-kvm\0-uuid\0a\0"sv);
  SetUid(10, 1000);
  const auto owner = resolver_.Resolve(Process(10, "/usr/bin/qemu-kvm", "/machine.slice/a.scope"));
  EXPECT_EQ(owner.vm_owner, (VmOwner{1000, "/machine.slice/a.scope\n"}));
  EXPECT_NE(resolver_.Resolve(Process(10, "/usr/bin/qemu-kvm", "/machine.slice/b.scope")).vm_owner, owner.vm_owner);
}

TEST_F(ResolverTest, UserOfAVmUnreadable_IsNobodyAndCounted) {
  Show(10, "", "qemu-kvm\0-uuid\0a\0"sv);
  tree_.Write("10/status", "Name:\tx\nUid:\t");
  const auto owner = resolver_.Resolve(Process(10, "/usr/bin/qemu-kvm"));
  EXPECT_EQ(owner.vm, (snapshot::VmIdentity{"a", "kvm-a", "kvm"}));
  EXPECT_EQ(owner.vm_owner.uid, VmOwner::kUnknownUid);
  EXPECT_EQ(resolver_.reads_failed(), 1U);
}

TEST_F(ResolverTest, GoneBeforeItsUserIsRead_IsNoVm) {
  Show(10, "", "qemu-kvm\0-uuid\0a\0"sv);
  tree_.Remove("10/status");
  EXPECT_FALSE(resolver_.Resolve(Process(10, "/usr/bin/qemu-kvm")).vm);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, ExecutableUnreadable_CommSendsToTheArguments) {
  Show(10, "", "/usr/bin/qemu-system-x86_64\0-name\0web\0"sv);
  auto process = Process(10, "");
  process.comm = "qemu-system-x86";
  EXPECT_EQ(resolver_.Resolve(process).vm, (snapshot::VmIdentity{"web", "web", "kvm"}));
  process.comm = "sudo";
  EXPECT_FALSE(resolver_.Resolve(process).vm);
}

/// A QEMU as libvirt starts it, whose command line has no UUID, and what libvirt keeps of it.
class LibvirtTest : public ResolverTest {
 protected:
  LibvirtTest() {
    Show(10, "HOSTNAME=virt-launcher-web\0"sv, "qemu-kvm\0-name\0guest=default_web,debug-threads=on\0"sv);
  }
  void Keep(const std::string& file, int pid, std::string_view name = "default_web") {
    tree_.Write(file, "<domstatus state='running' pid='" + std::to_string(pid) + "'><domain type='kvm'><name>" +
                          std::string(name) + "</name><uuid>7f1d</uuid></domain></domstatus>");
  }
  snapshot::VmIdentity Vm() { return *resolver_.Resolve(Process(10, "/usr/libexec/qemu-kvm")).vm; }

  const snapshot::VmIdentity by_state_{"7f1d", "default_web", "kvm"};
  const snapshot::VmIdentity by_arguments_{"default_web", "default_web", "kvm"};
};

TEST_F(LibvirtTest, StateOfTheMachinesLibvirt_NamesTheVm) {
  Keep("10/root/run/libvirt/qemu/default_web.xml", 10);
  EXPECT_EQ(Vm(), by_state_);
}

TEST_F(LibvirtTest, StateOfAUsersLibvirt_NamesTheVm) {
  SetUid(10, 1000);
  Keep("10/root/run/user/1000/libvirt/qemu/run/default_web.xml", 10);
  EXPECT_EQ(Vm(), by_state_);
}

TEST_F(LibvirtTest, VirtLauncherInAPod_NamesTheVmAndStaysItsContainer) {
  tree_.Write("10/status", "Name:\tqemu-kvm\nUid:\t107\t107\t107\t107\nNSpid:\t10\t84\n");
  Keep("10/root/run/libvirt/qemu/run/default_web.xml", 84);
  const std::string pod = "/kubepods.slice/kubepods-pod0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0.slice/cri-containerd-";
  const auto owner = resolver_.Resolve(Process(10, "/usr/libexec/qemu-kvm", pod + kId + ".scope"));
  EXPECT_EQ(owner.vm, by_state_);
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"containerd", kId}));
  EXPECT_EQ(owner.cgroup.pod_uid, "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
  EXPECT_EQ(owner.container_name, "virt-launcher-web");
}

TEST_F(LibvirtTest, UnknownEmulatorWithAMachine_IsNamedToo) {
  Keep("10/root/run/libvirt/qemu/default_web.xml", 10);
  EXPECT_EQ(resolver_.Resolve(Process(10, "/opt/acme/emulator"), true).vm, by_state_);
}

TEST_F(LibvirtTest, StateOfAnotherProcess_IsNotUsed) {
  Keep("10/root/run/libvirt/qemu/default_web.xml", 11);
  EXPECT_EQ(Vm(), by_arguments_);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(LibvirtTest, LeftBehindByTheMachinesLibvirt_ThatOfThePodCounts) {
  Keep("10/root/run/libvirt/qemu/default_web.xml", 9);
  Keep("10/root/run/libvirt/qemu/run/default_web.xml", 10);
  EXPECT_EQ(Vm(), by_state_);
}

TEST_F(LibvirtTest, StateOfAnotherName_IsNotUsed) {
  Keep("10/root/run/libvirt/qemu/default_web.xml", 10, "other");
  EXPECT_EQ(Vm(), by_arguments_);
}

TEST_F(LibvirtTest, MissingOrALink_TheCommandLineNames) {
  EXPECT_EQ(Vm(), by_arguments_);
  Keep("elsewhere.xml", 10);
  tree_.MakeDir("10/root/run/libvirt/qemu");
  tree_.Symlink("10/root/run/libvirt/qemu/default_web.xml", tree_.Path("elsewhere.xml"));
  EXPECT_EQ(Vm(), by_arguments_);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(LibvirtTest, MalformedOrCutOff_TheCommandLineNamesAndItIsCounted) {
  tree_.Write("10/root/run/libvirt/qemu/default_web.xml", "<domstatus pid='10'><domain>");
  EXPECT_EQ(Vm(), by_arguments_);
  EXPECT_EQ(resolver_.reads_failed(), 1U);
}

TEST_F(LibvirtTest, NameThatIsAPath_IsNotLookedFor) {
  Show(10, "", "qemu-kvm\0-name\0guest=../web\0"sv);
  Keep("10/root/run/libvirt/web.xml", 10, "../web");
  EXPECT_EQ(Vm(), (snapshot::VmIdentity{"../web", "../web", "kvm"}));
}

TEST_F(ResolverTest, UnknownProgramThatHoldsAMachine_IsAVm) {
  Show(10, "HOSTNAME=web\0"sv, "vmm\0-name\0guest=db\0"sv);
  tree_.Write("misc", "232 kvm\n");
  tree_.Symlink("10/fd/7", "anon_inode:kvm-vm");
  auto process = InContainer(10, "/opt/acme/vmm");
  EXPECT_EQ(resolver_.HoldsMachine(process), Holds::kYes);
  EXPECT_FALSE(resolver_.Resolve(process).vm);
  const auto owner = resolver_.Resolve(process, true);
  EXPECT_EQ(owner.vm, (snapshot::VmIdentity{"db", "db", "kvm"}));
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  process.kernel_thread = true;
  EXPECT_EQ(resolver_.HoldsMachine(process), Holds::kNo);
}

TEST_F(ResolverTest, Zombie_IsNoVm) {
  Show(10, "", "");
  auto process = Process(10, "");
  process.comm = "qemu-system-x86";
  EXPECT_FALSE(resolver_.Resolve(process).vm);
}

TEST_F(ResolverTest, KernelThreadOfAContainer_IsNotRead) {
  Hide(10);
  auto process = InContainer(10, "");
  process.comm = "kvm";
  process.kernel_thread = true;
  const auto owner = resolver_.Resolve(process);
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  EXPECT_FALSE(owner.vm);
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(ResolverTest, ManyContainersComeAndGo_LivingOneKeepsItsName) {
  const std::string first = "/docker/" + std::string(64, '0');  // the smallest, and the oldest
  Show(10, "HOSTNAME=web\0"sv, "");
  Show(11, "HOSTNAME=other\0"sv, "");
  const auto living = Process(10, "/bin/sh", first);
  EXPECT_EQ(resolver_.Resolve(living).container_name, "web");
  MeetOthers(10'000);
  EXPECT_EQ(resolver_.Resolve(Process(11, "/bin/sh", first)).container_name, "web");
}

TEST_F(ResolverTest, OneOfItsCgroupsLives_NameStays) {
  const std::string box = "/docker/" + std::string(64, '0');
  Show(10, "PATH=/\0"sv, "");
  Show(11, "HOSTNAME=web\0"sv, "");
  Show(12, "HOSTNAME=other\0"sv, "");
  const auto living = Process(10, "/bin/sh", box + "/init.scope");
  EXPECT_EQ(resolver_.Resolve(living).container_name, "");
  EXPECT_EQ(resolver_.Resolve(Process(11, "/bin/sh", box + "/short.service")).container_name, "web");
  MeetOthers(10'000);
  EXPECT_EQ(resolver_.Resolve(Process(12, "/bin/sh", box + "/late.service")).container_name, "web");
}

TEST_F(ResolverTest, ContainerEnded_NameIsForgotten) {
  Show(10, "HOSTNAME=web\0"sv, "");
  Show(11, "HOSTNAME=other\0"sv, "");
  EXPECT_EQ(resolver_.Resolve(InContainer(10)).container_name, "web");
  MeetOthers(10'000);
  EXPECT_EQ(resolver_.Resolve(InContainer(11)).container_name, "other");
}

/// Under a limit that a busy machine may miss, for a process that is not to be read; the others get theirs in time.
TEST_F(ResolverTest, ProcessThatKeepsItsReaderWaiting_CostsItsUnitItsNames) {
  Resolver resolver(tree_.root(), clock_, {.deadline = std::chrono::milliseconds(200), .budget = kPatient.budget});
  const std::string box = "/system.slice/docker-" + kId + ".scope";
  tree_.MakeDir("10");
  testing::MakeFifo(tree_.Path("10/environ"));
  Show(11, "HOSTNAME=inner\0"sv, "");
  Show(12, "HOSTNAME=other\0"sv, "");
  EXPECT_EQ(resolver.Resolve(Process(10, "/bin/sh", box)).late, Late::kTimedOut);
  EXPECT_EQ(resolver.reads_failed(), 1U);
  const auto inner = resolver.Resolve(Process(11, "/bin/sh", box + "/docker/" + std::string(64, 'b')));
  EXPECT_EQ(inner.late, Late::kPutOff) << "its container is a claim of the one around it";
  EXPECT_EQ(inner.container_name, "");
  const auto other = resolver.Resolve(Process(12, "/bin/sh", "/docker/" + std::string(64, 'c')));
  EXPECT_EQ(other.late, Late::kNo);
  EXPECT_EQ(other.container_name, "other");
  EXPECT_EQ(resolver.reads_failed(), 1U);
  testing::ReleaseFifo(tree_.Path("10/environ"));
}

TEST(Resolver, NoProcfs_IsCounted) {
  testing::FakeTree tree;
  const testing::FakeClock clock;
  Resolver resolver(tree.Path("absent"), clock, kPatient);
  cgroup::ProcessInfo process;
  process.cgroup = std::make_shared<cgroup::Membership>(os::CgroupLines{{0, "", "/docker/" + kId}});
  EXPECT_EQ(resolver.Resolve(process).container_name, "");
  EXPECT_EQ(resolver.reads_failed(), 2U);
}

}  // namespace
}  // namespace kepler::workload
