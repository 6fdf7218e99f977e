// Which process is a virtual machine, and what libvirt says of it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "workload/resolver_test_util.h"

namespace kepler::workload {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

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

TEST_F(ResolverTest, RootOfAContainer_IsNoTrustedUserOfAVm) {
  Show(10, "", "qemu-kvm\0-uuid\0a\0"sv);
  const auto process = Process(10, "/usr/bin/qemu-kvm");
  EXPECT_TRUE(resolver_.Resolve(process).evidence.trusted_user);
  const auto inside = resolver_.Resolve(InContainer(10, "/usr/bin/qemu-kvm"));
  ASSERT_TRUE(inside.vm);
  EXPECT_FALSE(inside.evidence.trusted_user);
}

TEST_F(ResolverTest, UserOfAHypervisor_IsFoundWithinAMinute) {
  Show(10, "", "qemu-kvm\0-uuid\0a\0"sv);
  SetUid(10, 107);
  const auto is_trusted = [&] {
    resolver_.BeginScan();
    return resolver_.Resolve(Process(10, "/usr/bin/qemu-kvm")).evidence.trusted_user;
  };
  EXPECT_FALSE(is_trusted()) << "there is no file";
  tree_.Write("1/root/etc/passwd", "qemu:x:107:107::/:/sbin/nologin\n");
  clock_.Advance(PasswdFile::kPeriod);
  EXPECT_TRUE(is_trusted());
}

TEST_F(ResolverTest, UserOfAVmUnreadable_IsNobodyAndCounted) {
  Show(10, "", "qemu-kvm\0-uuid\0a\0"sv);
  tree_.Write("10/status", "Name:\tx\nUid:\t");
  const auto owner = resolver_.Resolve(Process(10, "/usr/bin/qemu-kvm"));
  EXPECT_EQ(owner.vm, (snapshot::VmIdentity{"a", "kvm-a", "kvm"}));
  EXPECT_EQ(owner.vm_owner.uid, kUnknownUid);
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
  void Keep(const std::string& file, int pid, std::string_view name = "default_web", std::string_view title = "") {
    tree_.Write(file, "<domstatus state='running' pid='" + std::to_string(pid) + "'><domain type='kvm'><name>" +
                          std::string(name) + "</name><uuid>7f1d</uuid><title>" + std::string(title) +
                          "</title></domain></domstatus>");
  }
  void StartWithUuid(std::string_view uuid) {
    Show(10, "", "qemu-kvm\0-name\0guest=default_web\0-uuid\0"s + std::string(uuid) + "\0"s);
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
  EXPECT_EQ(resolver_.reads_failed(), 0U);
  Keep("elsewhere.xml", 10);
  tree_.MakeDir("10/root/run/libvirt/qemu");
  tree_.Symlink("10/root/run/libvirt/qemu/default_web.xml", tree_.Path("elsewhere.xml"));
  EXPECT_EQ(Vm(), by_arguments_);
  EXPECT_EQ(resolver_.reads_failed(), 1U);
}

TEST_F(LibvirtTest, Unreadable_IsCountedAndSaidOnceAndTheNextPlaceIsAsked) {
  tree_.MakeDir("10/root/run/libvirt/qemu/default_web.xml");
  Keep("10/root/run/libvirt/qemu/run/default_web.xml", 10);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Vm(), by_state_);
  EXPECT_EQ(Vm(), by_state_);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(resolver_.reads_failed(), 2U);
  const size_t said = log.find(tree_.Path("10/root/run/libvirt/qemu/default_web.xml"));
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_EQ(said, log.rfind(tree_.Path("10/root"))) << log;
}

TEST_F(LibvirtTest, UuidAndAnyUser_NothingIsReadBelowItsRoot) {
  StartWithUuid("8a2e");
  SetUid(10, 1000);
  tree_.Write("10/root/run/libvirt/qemu/default_web.xml", "malformed: it would be counted");
  EXPECT_EQ(Vm(), (snapshot::VmIdentity{"8a2e", "default_web", "kvm"}));
  EXPECT_EQ(resolver_.reads_failed(), 0U);
}

TEST_F(LibvirtTest, UuidAndHypervisorsUser_HasTheMetadata) {
  StartWithUuid("7f1d");
  Keep("10/root/run/libvirt/qemu/default_web.xml", 10, "default_web", "Web\x07");
  EXPECT_EQ(Vm(), (snapshot::VmIdentity{"7f1d", "default_web", "kvm", {.instance_name = "Web\xEF\xBF\xBD"}}));
}

TEST_F(LibvirtTest, UuidInLibvirtsScope_HasTheMetadataWhateverItsUser) {
  StartWithUuid("7f1d");
  SetUid(10, 1000);
  Keep("10/root/run/libvirt/qemu/default_web.xml", 10, "default_web", "Web");
  const auto owner = resolver_.Resolve(Process(10, "/usr/libexec/qemu-kvm", "/machine.slice/machine-qemu\\x2d1.scope"));
  EXPECT_EQ(owner.vm->metadata.instance_name, "Web");
}

TEST_F(LibvirtTest, MetadataThatAnyUserOrPodMayHaveWritten_IsNotUsed) {
  Keep("10/root/run/libvirt/qemu/default_web.xml", 10, "default_web", "Web");
  EXPECT_EQ(Vm().metadata.instance_name, "Web");
  EXPECT_EQ(resolver_.Resolve(InContainer(10, "/usr/libexec/qemu-kvm")).vm, by_state_);
  SetUid(10, 1000);
  EXPECT_EQ(Vm(), by_state_);
}

TEST_F(LibvirtTest, StateHasAnotherUuid_IsNotUsed) {
  StartWithUuid("8a2e");
  Keep("10/root/run/libvirt/qemu/default_web.xml", 10, "default_web", "Web");
  EXPECT_EQ(Vm(), (snapshot::VmIdentity{"8a2e", "default_web", "kvm"}));
}

TEST_F(LibvirtTest, UuidAndUnreadable_IsSaidOnceAndNotCounted) {
  StartWithUuid("8a2e");
  tree_.MakeDir("10/root/run/libvirt/qemu/default_web.xml");
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Vm(), (snapshot::VmIdentity{"8a2e", "default_web", "kvm"}));
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(resolver_.reads_failed(), 0U);
  const size_t said = log.find("OpenStack");
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_EQ(said, log.rfind("OpenStack")) << log;
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
  EXPECT_EQ(owner.vm, (snapshot::VmIdentity{"10-1000", "db", "kvm"}));
  EXPECT_EQ(owner.cgroup.container, (ContainerId{"docker", kId}));
  process.kernel_thread = true;
  EXPECT_EQ(resolver_.HoldsMachine(process), Holds::kNo);
}

TEST_F(ResolverTest, DescriptorsCannotBeRead_IsCountedAndSaidOnceAndAskedLater) {
  tree_.Write("misc", "232 kvm\n");
  tree_.Symlink("10/fd", "fd");
  const auto process = Process(10, "/opt/acme/vmm");
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(resolver_.HoldsMachine(process), Holds::kNotNow);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(resolver_.reads_failed(), 2U);
  EXPECT_NE(log.find("/*/fd"), std::string::npos) << log;
  EXPECT_EQ(log.find("/*/fd"), log.rfind("/*/fd")) << log;
  tree_.Remove("10/fd");
  EXPECT_EQ(resolver_.HoldsMachine(process), Holds::kNo);
  EXPECT_EQ(resolver_.reads_failed(), 2U);
}

TEST_F(ResolverTest, Zombie_IsNoVm) {
  Show(10, "", "");
  auto process = Process(10, "");
  process.comm = "qemu-system-x86";
  EXPECT_FALSE(resolver_.Resolve(process).vm);
}

}  // namespace
}  // namespace kepler::workload
