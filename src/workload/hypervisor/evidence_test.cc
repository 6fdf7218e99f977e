#include "workload/hypervisor/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kepler::workload::hypervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool InScope(std::string path) { return IsInMachineScope({{0, "", std::move(path)}}); }

TEST(Evidence, Place_Descriptor_User_Name) {
  const std::vector<Evidence> best_first = {
      {.in_scope = true, .holds_machine = true, .trusted_user = true},
      {.in_scope = true, .holds_machine = true},
      {.in_scope = true, .trusted_user = true},
      {.in_scope = true},
      {.holds_machine = true, .trusted_user = true},
      {.holds_machine = true},
      {.trusted_user = true},
      {},
  };
  EXPECT_TRUE(std::ranges::is_sorted(best_first, std::ranges::greater()));
  EXPECT_EQ(std::ranges::adjacent_find(best_first), best_first.end());
}

TEST(Evidence, Pod_IsAPlaceOnlyWithAMachine) {
  EXPECT_EQ((Evidence{.in_pod = true}), Evidence{}) << "anybody's pod may run a program of that name";
  EXPECT_EQ((Evidence{.in_pod = true, .holds_machine = true}), (Evidence{.in_scope = true, .holds_machine = true}));
}

TEST(Evidence, BothTogether) {
  const Evidence both = Evidence{.in_pod = true} | Evidence{.holds_machine = true, .trusted_user = true};
  EXPECT_EQ(ToString(both), "pod");
  EXPECT_EQ(ToString(both | Evidence{.in_scope = true}), "scope");
  EXPECT_EQ(ToString(Evidence{.holds_machine = true}), "kvm");
  EXPECT_EQ(ToString(Evidence{.in_pod = true, .trusted_user = true}), "user");
  EXPECT_EQ(ToString(Evidence{}), "name");
}

TEST(Evidence, ScopesOfVirtualMachines_AtTheTopOnly) {
  for (const char* path : {"/machine.slice/machine-qemu\\x2d1\\x2dweb.scope", "/machine.slice/machine-qemu-1.scope",
                           "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator",
                           "/../../machine.slice/machine-ch\\x2d1.scope", "/machine/qemu-1-web.libvirt-qemu/emulator",
                           "/qemu.slice/101.scope"})
    EXPECT_TRUE(InScope(path)) << path;
  const std::string scope = "/machine.slice/machine-qemu\\x2d1.scope";
  for (const std::string& path :
       {"/user.slice/user-1000.slice/user@1000.service" + scope, "/docker/" + std::string(64, 'a') + scope,
        std::string("/machine.slice/machine-lab.scope"), std::string("/machine.slice/qemu.scope"),
        std::string("/machine.slice"), std::string("/"), std::string(),
        std::string("machine.slice/machine-qemu-1.scope"), "/..a" + scope, "/../a" + scope})
    EXPECT_FALSE(InScope(path)) << path;
  EXPECT_TRUE(IsInMachineScope({{4, "cpuacct", "/"}, {1, "name=systemd", scope}})) << "in any hierarchy";
  EXPECT_FALSE(IsInMachineScope({}));
}

TEST(Evidence, ContainerOfAPod_OfTheMachinesCluster) {
  const cgroup::Owner pods{.container = ContainerId{"containerd", "a"}, .pod_uid = "p", .qos = {}};
  EXPECT_TRUE(IsPodsContainer(pods));
  cgroup::Owner other = pods;
  other.pod_uid = "uid1000/p";
  EXPECT_FALSE(IsPodsContainer(other));
  other = pods;
  other.container->id = "aaaaaaaaaaaa/b";
  EXPECT_FALSE(IsPodsContainer(other));
  other.container.reset();
  EXPECT_FALSE(IsPodsContainer(other));
  EXPECT_FALSE(IsPodsContainer({}));
}

TEST(HypervisorUsers, Passwd_IdsOfTheirUsers) {
  EXPECT_THAT(HypervisorUsers("root:x:0:0:root:/root:/bin/sh\n"
                              "libvirt-qemu:x:64055:109:Libvirt Qemu,,,:/var/lib/libvirt:/usr/sbin/nologin\n"
                              "qemu:x:107:107:qemu user:/:/sbin/nologin\n"),
              ElementsAre(64055, 107));
}

TEST(HypervisorUsers, MissingMalformedTruncated_AreLeftOut) {
  EXPECT_THAT(HypervisorUsers(""), IsEmpty());
  for (const char* line : {"qemu", "qemu:", "qemu:x", "qemu:x:", "qemu:x:-1:", "qemu:x:1 :", "qemu:x:99999999999:",
                           "qemux:x:107:", ":x:107:", "+qemu:x:107:"})
    EXPECT_THAT(HypervisorUsers(line), IsEmpty()) << line;
  EXPECT_THAT(HypervisorUsers("qemu:x\nqemu:x:107"), ElementsAre(107)) << "as far as it goes";
}

}  // namespace
}  // namespace kepler::workload::hypervisor
