#include "workload/identity_of.h"

#include <gtest/gtest.h>

namespace kepler::workload {
namespace {

using snapshot::ProcessIdentity;

const cgroup::Owner kNobody{};
const cgroup::Owner kBox{.container = ContainerId{"docker", "c1"}, .pod_uid = "uid", .qos = ""};

TEST(Identity, TextsOfAnyBytes_AreWhatAPageCanShow) {
  const cgroup::ProcessInfo process{.key = {7, 1}, .comm = "caf\xC3", .exe = "/bin/x\x1b", .cgroup = nullptr};
  EXPECT_EQ(*IdentityOf(process, kNobody, ""),
            (ProcessIdentity{7, "caf\xEF\xBF\xBD", "/bin/x\xEF\xBF\xBD", "regular", "", ""}));
  EXPECT_EQ(*IdentityOf(7, process.comm, process.exe, kNobody), *IdentityOf(process, kNobody, ""));
  EXPECT_EQ(IdentityOf(VmId{"kvm", "a\xFF"}, "b\x07"), (snapshot::VmIdentity{"a\xEF\xBF\xBD", "b\xEF\xBF\xBD", "kvm"}));
  EXPECT_EQ(
      IdentityOf(VmId{"kvm", "a"}, "b", {"i\x07", "f\x07", "p\x07", "n\x07", "u\x07"}).metadata,
      (snapshot::VmMetadata{"i\xEF\xBF\xBD", "f\xEF\xBF\xBD", "p\xEF\xBF\xBD", "n\xEF\xBF\xBD", "u\xEF\xBF\xBD"}));
  EXPECT_EQ(ContainerIdentityOf(kBox, "we\xC3"),
            (snapshot::ContainerIdentity{"c1", "we\xEF\xBF\xBD", "docker", "uid"}));
  EXPECT_TRUE(Runs(*IdentityOf(process, kNobody, ""), process.exe));
  EXPECT_FALSE(Runs(*IdentityOf(process, kNobody, ""), "/bin/y"));
}

TEST(Identity, NamesAreCut_IdsAreNot) {
  const cgroup::ProcessInfo process{.key = {7, 1}, .comm = "worker-é", .exe = "/opt/long/path", .cgroup = nullptr};
  const auto identity = IdentityOf(process, kBox, "some-machine", 8);
  EXPECT_EQ(*identity, (ProcessIdentity{7, "worker-", "/opt/long/path", "container", "c1", "some-machine"}))
      << "what a machine's process runs says whether it is still that machine";
  EXPECT_TRUE(Runs(*identity, process.exe));
  EXPECT_FALSE(Runs(*identity, "/opt/long/pith"));
  EXPECT_EQ(IdentityOf(process, kBox, "", 8)->exe, "/opt/lon");
  EXPECT_EQ(ContainerIdentityOf(kBox, "frontend-server", 8).name, "frontend");
}

TEST(Identity, Type_ContainerBeforeVm) {
  const cgroup::ProcessInfo process{.key = {7, 1}, .comm = "qemu", .exe = "/q", .cgroup = nullptr};
  EXPECT_EQ(*IdentityOf(process, kNobody, "v"), (ProcessIdentity{7, "qemu", "/q", "vm", "", "v"}));
  EXPECT_EQ(*IdentityOf(process, kBox, "v"), (ProcessIdentity{7, "qemu", "/q", "container", "c1", "v"}));
}

}  // namespace
}  // namespace kepler::workload
