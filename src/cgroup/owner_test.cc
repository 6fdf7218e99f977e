#include "cgroup/owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cgroup/owner_test_util.h"
#include "cgroup/path_rules.h"

namespace kepler::cgroup {
namespace {

const std::string kA(64, 'a');
const std::string kB(64, 'b');
const std::string kUid = "152bb6d4-0ddf-4332-848a-0095e4e2dadd";

using Lines = os::CgroupLines;

Owner Container(std::string runtime, std::string id) {
  return {.container = ContainerId{std::move(runtime), std::move(id)}, .pod_uid = {}, .qos = {}};
}

TEST(OwnerOfPath, Empty_NobodyOwns) { EXPECT_EQ(OwnerOfPath(""), Owner{}); }

TEST(OwnerOfPath, FourKilobytes_FindsTheDeepestContainer) {
  std::string path = "/docker/" + kA;
  while (path.size() < 4096) path += "/nested.slice";
  EXPECT_EQ(OwnerOfPath(path), Container("docker", kA));
  EXPECT_EQ(OwnerOfPath(path + "/libpod-" + kB + ".scope"), Container("podman", kB));
}

TEST(OwnerOfPath, NameAtTheBound_IsTaken) {
  const std::string name(kMaxNameBytes, 'n');
  EXPECT_EQ(OwnerOfPath("/lxc/" + name), Container("lxc", name));
}

TEST(OwnerOfPath, IdsLongerThanAFileName_AreNotBelieved) {
  const std::string digits(kMaxNameBytes + 1, '7');
  for (const std::string prefix : {"/lxc/", "/lxc.payload.", "/x.service/libpod-payload-"})
    EXPECT_EQ(OwnerOfPath(prefix + digits), Owner{}) << prefix;
  for (const std::string prefix : {"/kubepods/pod", "/kubepods.slice/kubepods-pod"}) {
    EXPECT_EQ(OwnerOfPath(prefix + digits + ".slice").pod_uid, "") << prefix;
    EXPECT_EQ(OwnerOfPath(prefix + digits).pod_uid, "") << prefix;
  }
}

TEST(OwnerOfPath, PodUid_MayBeOfAnyLetters) {
  for (const std::string uid : {"AZaz09-_", "azAZ90"}) {
    EXPECT_EQ(OwnerOfPath("/kubepods/pod" + uid).pod_uid, uid);
    EXPECT_EQ(OwnerOfPath("/kubepods/pod" + uid + "/" + kA).pod_uid, uid);
  }
  for (const char c : {'@', '[', '`', '{', '/', ':', ','})
    EXPECT_EQ(OwnerOfPath(std::string("/kubepods/podA") + c).pod_uid, c == '/' ? "A" : "") << c;
}

TEST(OwnerOfPath, NameOfAnyBytes_PassesThrough) {
  const std::string name = "we\"b\n\xff\xc3'";
  EXPECT_EQ(OwnerOfPath("/lxc.payload." + name), Container("lxc", name));
  EXPECT_EQ(OwnerOfPath("/machine.slice/machine-a\\x2db\\xzz\\x2.scope"), Container("systemd-nspawn", "a-b\\xzz\\x2"));
}

TEST(OwnerOfLines, NoLines_NobodyOwns) {
  EXPECT_EQ(OwnerOfLines({}), Owner{});
  EXPECT_EQ(AccountingLine({}), 0U);
}

TEST(OwnerOfLines, NoContainer_NoAccountingLine) {
  const Lines lines({{4, "cpu,cpuacct", "/user.slice"}, {0, "", "/system.slice/ssh.service"}});
  EXPECT_EQ(OwnerOfLines(lines), Owner{});
  EXPECT_EQ(AccountingLine(lines), 2U);
}

TEST(OwnerOfLines, HybridWithContainerOnV1Only_V1Names) {
  const Lines lines({{9, "name=systemd", "/docker/" + kA}, {4, "cpu,cpuacct", "/docker/" + kA}, {0, "", "/"}});
  EXPECT_EQ(OwnerOfLines(lines), Container("docker", kA));
  EXPECT_EQ(AccountingLine(lines), 1U);
}

TEST(OwnerOfLines, ContainerOnV2Only_V2Accounts) {
  const Lines lines({{4, "cpu,cpuacct", "/"}, {0, "", "/system.slice/docker-" + kA + ".scope"}});
  EXPECT_EQ(OwnerOfLines(lines), Container("docker", kA));
  EXPECT_EQ(AccountingLine(lines), 1U);
}

TEST(OwnerOfLines, LinesDisagree_DeepestMatchNames) {
  const Lines lines(
      {{4, "cpu,cpuacct", "/docker/" + kA}, {0, "", "/docker/" + kA + "/kubelet/kubepods/pod" + kUid + "/" + kB}});
  const Owner inner{.container = ContainerId{"kubernetes", kB}, .pod_uid = kUid, .qos = "guaranteed"};
  EXPECT_EQ(OwnerOfLines(lines), inner);
  EXPECT_EQ(AccountingLine(lines), 1U) << "cpuacct names another container";
}

TEST(OwnerOfLines, PodOnTheDeeperLine_ContainerStillWins) {
  const Lines lines({{4, "cpuacct", "/docker/" + kA}, {0, "", "/a/" + std::string(99, 'x') + "/pod" + kUid}});
  EXPECT_EQ(OwnerOfLines(lines), Container("docker", kA));
  EXPECT_EQ(AccountingLine(lines), 0U);
}

TEST(OwnerOfLines, EqualDepth_V2ThenCpuacctThenFirst) {
  const std::string a = "/docker/" + kA;
  const std::string b = "/docker/" + kB;
  EXPECT_EQ(OwnerOfLines(Lines({{9, "memory", a}, {0, "", b}, {4, "cpuacct", a}})).container->id, kB);
  EXPECT_EQ(OwnerOfLines(Lines({{9, "memory", a}, {4, "cpu,cpuacct", b}})).container->id, kB);
  EXPECT_EQ(OwnerOfLines(Lines({{9, "memory", a}, {4, "pids", b}})).container->id, kA);
}

TEST(AccountingLine, ControllerWhoseNameContainsCpuacct_IsNotIt) {
  const std::string path = "/docker/" + kA;
  EXPECT_EQ(AccountingLine(Lines({{9, "name=cpuacct", path}, {4, "xcpuacct", path}, {0, "", path}})), 2U);
  EXPECT_EQ(AccountingLine(Lines({{9, "memory", path}, {4, "cpuacct,cpu", path}, {0, "", path}})), 1U);
}

TEST(AccountingLine, OtherPathsOfOneContainer_CpuacctAccounts) {
  const Lines lines({{4, "cpu,cpuacct", "/docker/" + kA}, {0, "", "/system.slice/docker-" + kA + ".scope"}});
  EXPECT_EQ(AccountingLine(lines), 0U);
}

TEST(AccountingLine, PodWithoutContainer_ItsLineAccounts) {
  const Lines lines({{4, "cpu,cpuacct", "/"}, {0, "", "/kubepods/burstable/pod" + kUid}});
  EXPECT_EQ(AccountingLine(lines), 1U);
}

rc::Gen<std::string> AnyPath() {
  const auto part =
      rc::gen::oneOf(rc::gen::element<std::string>("/", ":", "..", ".slice", ".slice:", ".scope", "docker-", "docker/",
                                                   "pod", "kubepods", "kubepods-burstable-pod", "lxc/", "machine-",
                                                   "\\x2d", "\\x", "libpod-", "payload", "supervisor", kA, kUid),
                     rc::gen::arbitrary<std::string>());
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(part), [](const std::vector<std::string>& parts) {
    std::string path;
    for (const auto& text : parts) path += text;
    return path;
  });
}

TEST(UnitOfPath, EndsWhereNoProcessInItCanHaveMadeIt) {
  const std::string docker = "/system.slice/docker-" + kA + ".scope";
  const std::string pod = "/kubepods/burstable/pod" + kUid + "/" + kA;
  const std::string slice = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/";
  const std::map<std::string, std::string> units = {
      {"/", ""},
      {"/a/b", ""},
      {"/system.slice/ssh.service", "/system.slice/ssh.service"},
      {docker, docker},
      {docker + "/docker-" + kB + ".scope", docker},
      {"/docker/" + kA + "/docker/" + kB, "/docker/" + kA},
      {pod, pod},
      {pod + "/cri-containerd-" + kB + ".scope", pod},
      {slice + "cri-containerd-" + kA + ".scope", slice + "cri-containerd-" + kA + ".scope"},
      {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kA + ".scope/container",
       "/user.slice/user-1000.slice"},
      {"/user.slice/user-1000.slice/session-3.scope", "/user.slice/user-1000.slice"},
      {"/machine.slice/machine-qemu\\x2d1.scope/libvirt/emulator", "/machine.slice/machine-qemu\\x2d1.scope"},
      {"/system.slice/ssh.service (deleted)", "/system.slice/ssh.service"}};
  for (const auto& [path, unit] : units) EXPECT_EQ(UnitOfPath(path), unit) << path;
}

TEST(UnitOfLines, HierarchyOfSystemdComesFirst) {
  const Lines both = {{5, "cpu,cpuacct", "/docker/" + kA}, {1, "name=systemd", "/system.slice/a.service"}};
  EXPECT_EQ(UnitOfLines(both), "/system.slice/a.service");
  const Lines none = {{5, "cpu,cpuacct", "/docker/" + kA}, {1, "name=systemd", "/"}};
  EXPECT_EQ(UnitOfLines(none), "/docker/" + kA);
  EXPECT_EQ(UnitOfLines({{0, "", "/"}}), "");
}

RC_GTEST_PROP(UnitOfPath, AnyTail_ChangesNothing, ()) {
  const auto unit = *rc::gen::element<std::string>("/system.slice/a.service", "/docker/" + kA,
                                                   "/user.slice/user-7.slice", "/lxc.payload.box");
  RC_ASSERT(UnitOfPath(unit + "/" + *AnyPath()) == unit);
}

RC_GTEST_PROP(OwnerOfPath, AnyBytes_OwnersAreBoundedAndNamed, ()) {
  const auto owner = OwnerOfPath(*AnyPath());
  if (owner.container) {
    RC_ASSERT(!owner.container->runtime.empty());
    RC_ASSERT(!owner.container->id.empty());
    RC_ASSERT(owner.container->id.size() <= kMaxNameBytes);
  }
  RC_ASSERT(owner.pod_uid.size() <= kMaxNameBytes);
  RC_ASSERT(owner.qos.empty() || !owner.pod_uid.empty());
}

RC_GTEST_PROP(OwnerOfPath, AnyPrefix_KeepsTheContainer, ()) {
  const auto leaf = *rc::gen::element<std::string>("docker-" + kB + ".scope", "cri-containerd-" + kB + ".scope",
                                                   "libpod-" + kB + ".scope/container", "crio-" + kB + "/init.scope");
  const auto owner = OwnerOfPath(*AnyPath() + "/" + leaf);
  RC_ASSERT(owner.container.has_value());
  RC_ASSERT(owner.container->id == kB);
}

RC_GTEST_PROP(OwnerOfPath, AnyPrefix_KeepsThePod, ()) {
  const auto owner = OwnerOfPath(*AnyPath() + "/kubepods/besteffort/pod" + kUid + "/" + kB);
  RC_ASSERT(owner.pod_uid == kUid);
  RC_ASSERT(owner.qos == "besteffort");
  RC_ASSERT(owner.container->runtime == "kubernetes");
}

}  // namespace
}  // namespace kepler::cgroup
