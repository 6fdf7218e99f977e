#include "workload/hypervisor/vm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace kepler::workload::hypervisor {
namespace {

constexpr ProcessKey kKey{.tgid = 4242, .start_ticks = 99};
constexpr std::string_view kQemu = "/usr/bin/qemu-system-x86_64";
constexpr std::string_view kUuid = "7f1d3c52-0d5b-4c3e-9f0a-2b7c6d8e9f10";

/// "hypervisor|id|name", or "none".
std::string Detect(std::string_view exe, std::vector<std::string_view> argv) {
  const auto vm = DetectVm(exe, argv, kKey);
  return vm ? vm->id.hypervisor + "|" + vm->id.id + "|" + vm->name : "none";
}

TEST(MayBeVm, Executables_Decide) {
  for (const std::string_view exe :
       {"/usr/bin/qemu-system-x86_64", "/usr/bin/qemu-system-aarch64", "/usr/libexec/qemu-kvm", "/usr/bin/kvm",
        "qemu-system-ppc", "/usr/lib/virtualbox/VBoxHeadless", "/usr/lib/virtualbox/VBoxSDL",
        "/usr/lib/virtualbox/VirtualBoxVM", "/usr/lib/vmware/bin/vmware-vmx", "/usr/bin/firecracker", "/firecracker",
        "/opt/firecracker-v1.7.0-x86_64", "/usr/bin/cloud-hypervisor", "/opt/cloud-hypervisor-static",
        "/usr/bin/crosvm", "/usr/bin/qemu-system-x86_64 (deleted)",
        "/nix/store/x-qemu/bin/.qemu-system-x86_64-wrapped"}) {
    EXPECT_TRUE(MayBeVm(exe, "")) << exe;
  }
  for (const std::string_view exe :
       {"/usr/bin/qemu-x86_64", "/usr/bin/qemu-img", "/usr/bin/sudo", "/usr/bin/kvmtool", "/usr/bin/mykvm",
        "/opt/kvm/bin/agent", "/opt/qemu-system-x86_64/agent", "/usr/bin/firecracker-ctl", "/usr/bin/ch-remote",
        "/usr/bin/VBoxManage", "/usr/bin/", "/"}) {
    EXPECT_FALSE(MayBeVm(exe, "qemu-system-x86")) << exe;
  }
}

TEST(MayBeVm, ExecutableUnknown_CommHints) {
  for (const std::string_view comm :
       {"qemu-system-x86", "qemu-kvm", "kvm", "cloud-hyperviso", "firecracker", "VirtualBoxVM", "vmware-vmx"}) {
    EXPECT_TRUE(MayBeVm("", comm)) << comm;
  }
  for (const std::string_view comm : {"", "bash", "kvm-nx-lpage-re", "qemu-img", "cloud-hypervis"})
    EXPECT_FALSE(MayBeVm("", comm)) << comm;
}

TEST(DetectVm, Libvirt_UuidAndGuestName) {
  EXPECT_EQ(Detect(kQemu, {kQemu, "-name", "guest=web-01 prod,debug-threads=on", "-S", "-uuid", kUuid}),
            "kvm|" + std::string(kUuid) + "|web-01 prod");
}

TEST(DetectVm, EscapedCommaAndProcessName_KeepTheWholeName) {
  EXPECT_EQ(Detect(kQemu, {"x", "-name", "guest=my vm,,with comma,process=custom-comm", "-uuid", "u"}),
            "kvm|u|my vm,with comma");
}

TEST(DetectVm, QemuNameStyles_AreRead) {
  EXPECT_EQ(Detect(kQemu, {"x", "-name", "web"}), "kvm|web|web");
  EXPECT_EQ(Detect(kQemu, {"x", "-name=web"}), "kvm|web|web");
  EXPECT_EQ(Detect(kQemu, {"x", "--name", "web,debug-threads=on"}), "kvm|web|web");
}

TEST(DetectVm, QemuWithoutName_NamedByTheIdsStart) {
  EXPECT_EQ(Detect(kQemu, {"x", "-uuid", kUuid}), "kvm|" + std::string(kUuid) + "|kvm-7f1d3c52");
}

TEST(DetectVm, Proxmox_SmbiosUuidThenNameThenNumber) {
  EXPECT_EQ(Detect(kQemu, {"/usr/bin/kvm", "-id", "101", "-name", "web,debug-threads=on", "-smbios", "type=1,uuid=ab"}),
            "kvm|ab|web");
  EXPECT_EQ(Detect(kQemu, {"/usr/bin/kvm", "-id", "101", "-name", "web"}), "kvm|web|web");
  EXPECT_EQ(Detect(kQemu, {"/usr/bin/kvm", "-id", "101"}), "kvm|101|kvm-101");
}

TEST(DetectVm, UuidAndSmbios_UuidWins) {
  EXPECT_EQ(Detect(kQemu, {"x", "-smbios", "type=1,uuid=b", "-uuid", "a"}), "kvm|a|kvm-a");
}

TEST(DetectVm, NoIdAtAll_IdFromTheProcess) {
  EXPECT_EQ(Detect(kQemu, {kQemu, "-m", "1G"}), "kvm|4242-99|kvm-4242-99");
  EXPECT_EQ(Detect(kQemu, {}), "kvm|4242-99|kvm-4242-99");
  EXPECT_EQ(Detect("/usr/bin/firecracker", {"firecracker", "--no-api"}), "firecracker|4242-99|firecracker-4242-99");
}

TEST(DetectVm, Xen_DomainIdAndName) {
  EXPECT_EQ(Detect(kQemu, {"x", "-xen-domid", "3", "-name", "dom", "-uuid", "u"}), "xen|3|dom");
  EXPECT_EQ(Detect(kQemu, {"x", "-xen-domid", "3"}), "xen|3|xen-3");
}

TEST(DetectVm, VirtualBox_StartvmAndComment) {
  constexpr std::string_view kExe = "/usr/lib/virtualbox/VBoxHeadless";
  EXPECT_EQ(Detect(kExe, {kExe, "--comment", "my vm", "--startvm", kUuid, "--vrde", "config"}),
            "virtualbox|" + std::string(kUuid) + "|my vm");
  EXPECT_EQ(Detect(kExe, {kExe, "--comment", "my vm"}), "virtualbox|my vm|my vm");
  EXPECT_EQ(Detect(kExe, {kExe, "-startvm", "web"}), "virtualbox|web|virtualbox-web");
}

TEST(DetectVm, Vmware_FileNames) {
  constexpr std::string_view kExe = "/usr/lib/vmware/bin/vmware-vmx";
  EXPECT_EQ(Detect(kExe, {kExe, "-s", "vmx.stdio.keep=TRUE", "/vm/My VM/My VM.vmx"}), "vmware|My VM|My VM");
  EXPECT_EQ(Detect(kExe, {kExe}), "vmware|4242-99|vmware-4242-99");
}

TEST(DetectVm, Firecracker_IdThenSocket) {
  constexpr std::string_view kExe = "/usr/bin/firecracker";
  EXPECT_EQ(Detect(kExe, {kExe, "--api-sock", "/run/fc/web.sock", "--id", "fn-12345678"}),
            "firecracker|fn-12345678|firecracker-fn-12345");
  EXPECT_EQ(Detect(kExe, {kExe, "--api-sock", "/run/fc/web.sock"}),
            "firecracker|/run/fc/web.sock|firecracker-web.sock");
  EXPECT_EQ(Detect(kExe, {kExe, "--api-sock", "web.sock"}), "firecracker|4242-99|firecracker-4242-99")
      << "a relative path may be in any directory";
}

TEST(DetectVm, CloudHypervisor_Socket) {
  constexpr std::string_view kExe = "/usr/bin/cloud-hypervisor";
  EXPECT_EQ(Detect(kExe, {kExe, "--api-socket", "/run/web.sock"}),
            "cloud-hypervisor|/run/web.sock|cloud-hypervisor-web.sock");
  EXPECT_EQ(Detect(kExe, {kExe, "--api-socket=path=/run/web.sock"}),
            "cloud-hypervisor|/run/web.sock|cloud-hypervisor-web.sock");
  EXPECT_EQ(Detect(kExe, {kExe, "--api-socket", "fd=3"}), "cloud-hypervisor|4242-99|cloud-hypervisor-4242-99");
}

TEST(DetectVm, Crosvm_SocketAndRunOnly) {
  constexpr std::string_view kExe = "/usr/bin/crosvm";
  EXPECT_EQ(Detect(kExe, {kExe, "run", "--socket", "/run/web.sock", "--name", "web"}), "crosvm|/run/web.sock|web");
  EXPECT_EQ(Detect(kExe, {kExe, "run", "-s", "/run/web.sock", "bzImage"}), "crosvm|/run/web.sock|crosvm-web.sock");
  EXPECT_EQ(Detect(kExe, {kExe, "stop", "/run/web.sock"}), "none");
}

TEST(DetectVm, Kvmtool_NameAndRunOnly) {
  constexpr std::string_view kExe = "/usr/bin/lkvm";
  EXPECT_EQ(Detect(kExe, {kExe, "run", "--name", "web", "-k", "bzImage"}), "kvmtool|web|web");
  EXPECT_EQ(Detect(kExe, {kExe, "run", "-n", "web"}), "kvmtool|web|web");
  EXPECT_EQ(Detect(kExe, {kExe, "run", "bzImage"}), "kvmtool|4242-99|kvmtool-4242-99");
  EXPECT_EQ(Detect(kExe, {kExe, "list"}), "none");
}

TEST(DetectVm, Stratovirt_AsQemu) {
  constexpr std::string_view kExe = "/usr/bin/stratovirt";
  EXPECT_EQ(Detect(kExe, {kExe, "-machine", "microvm", "-name", "web", "-uuid", kUuid}),
            "stratovirt|" + std::string(kUuid) + "|web");
  EXPECT_EQ(Detect(kExe, {kExe, "-machine", "none"}), "none");
}

TEST(DetectVm, MachineNone_IsWhoeverAsksWhatQemuCanDo) {
  EXPECT_EQ(Detect(kQemu, {kQemu, "-S", "-nodefaults", "-machine", "none,accel=kvm:tcg"}), "none");
  EXPECT_EQ(Detect(kQemu, {kQemu, "-M", "none"}), "none");
  EXPECT_EQ(Detect(kQemu, {kQemu, "-machine", "type=none"}), "none");
  EXPECT_EQ(Detect(kQemu, {kQemu, "-machine", "pc,accel=kvm", "-name", "none"}), "kvm|none|none");
}

std::string Describe(std::string_view exe, std::vector<std::string_view> argv) {
  const auto vm = DescribeKvm(exe, argv, kKey);
  return vm ? vm->id.hypervisor + "|" + vm->id.id + "|" + vm->name : "none";
}

TEST(DescribeKvm, KnownProgram_AsByItsName) {
  EXPECT_EQ(Describe("/usr/bin/firecracker", {"firecracker", "--id", "f"}), "firecracker|f|firecracker-f");
  EXPECT_EQ(Describe(kQemu, {kQemu, "-name", "web"}), "kvm|web|web");
}

TEST(DescribeKvm, UnknownProgram_OptionsOfQemuOrItsProcess) {
  EXPECT_EQ(Describe("/opt/acme/vmm", {"vmm", "-name", "guest=web", "-uuid", kUuid}),
            "kvm|" + std::string(kUuid) + "|web");
  EXPECT_EQ(Describe("/opt/acme/vmm", {"vmm", "-name", "web", "-smbios", "type=1,uuid=u"}), "kvm|u|web");
  EXPECT_EQ(Describe("/opt/acme/vmm", {"vmm", "serve"}), "kvm|4242-99|kvm-4242-99");
  EXPECT_EQ(Describe("", {}), "kvm|4242-99|kvm-4242-99");
}

TEST(DescribeKvm, UnknownProgram_WhatMayMeanAnythingIsNoId) {
  EXPECT_EQ(Describe("/opt/acme/vmm", {"vmm", "--name", "web"}), "kvm|4242-99|web");
  EXPECT_EQ(Describe("/opt/acme/vmm", {"vmm", "--id", "1", "-xen-domid", "3"}), "kvm|4242-99|kvm-4242-99");
  EXPECT_EQ(Describe("", {"vmm", "-machine", "none"}), "none");
}

TEST(DescribeKvm, WhoAsksWhatQemuCanDo_IsNone) {
  EXPECT_EQ(Describe(kQemu, {kQemu, "-machine", "none,accel=kvm:tcg"}), "none");
}

TEST(DetectVm, Wrappers_AreNoVm) {
  EXPECT_EQ(Detect("/usr/bin/sudo", {"sudo", kQemu, "-name", "web"}), "none");
  EXPECT_EQ(Detect("/usr/bin/strace", {"strace", "-f", kQemu, "-uuid", kUuid}), "none");
  EXPECT_EQ(Detect("/usr/bin/grep", {"grep", "bin/qemu-system-x86_64"}), "none");
  EXPECT_EQ(Detect("/usr/bin/dash", {"sh", "-c", "/usr/bin/kvm -id 101"}), "none");
  EXPECT_EQ(Detect("/usr/bin/timeout", {"timeout", "9", "firecracker", "--id", "x"}), "none");
  EXPECT_EQ(Detect("", {"sudo", kQemu, "-name", "web"}), "none");
}

TEST(DetectVm, ExecutableKnown_ArgumentZeroIsNotAsked) {
  EXPECT_EQ(Detect("/usr/bin/python3", {kQemu, "-name", "web"}), "none");
}

TEST(DetectVm, ExecutableUnknown_ArgumentZeroDecides) {
  EXPECT_EQ(Detect("", {"qemu-system-x86_64", "-name", "web"}), "kvm|web|web");
  EXPECT_EQ(Detect("", {"/usr/libexec/qemu-kvm", "-name", "web"}), "kvm|web|web");
  EXPECT_EQ(Detect("", {}), "none");
}

TEST(DetectVm, OptionsCutOff_UsesWhatIsThere) {
  EXPECT_EQ(Detect(kQemu, {kQemu, "-name", "web", "-uuid"}), "kvm|web|web");
  EXPECT_EQ(Detect(kQemu, {kQemu, "-name"}), "kvm|4242-99|kvm-4242-99");
}

TEST(DetectVm, NameOfAnyBytes_PassesThroughBounded) {
  const std::string name = "we\"b\n\xff" + std::string(300, 'x');
  EXPECT_EQ(Detect(kQemu, {kQemu, "-name", name}), "kvm|" + name.substr(0, 255) + "|" + name.substr(0, 255));
}

RC_GTEST_PROP(DetectVm, AnyArguments_VmHasBoundedIdAndName, (const std::vector<std::string>& strings)) {
  std::vector<std::string_view> argv(strings.begin(), strings.end());
  for (const char* option : {"-name", "-uuid", "-smbios", "-id", "--api-sock", "run"})
    argv.insert(argv.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(argv) + 1), option);
  for (const std::string_view exe : {"/bin/kvm", "/bin/firecracker", "/bin/crosvm", "/bin/VBoxSDL", "/x/vmware-vmx"}) {
    const auto vm = DetectVm(exe, argv, kKey);
    RC_ASSERT(vm.has_value());
    RC_ASSERT(!vm->id.id.empty() && vm->id.id.size() <= 255);
    RC_ASSERT(!vm->name.empty() && vm->name.size() <= 255);
  }
}

}  // namespace
}  // namespace kepler::workload::hypervisor
