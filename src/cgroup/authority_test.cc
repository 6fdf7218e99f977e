// By whose authority cgroups are claimed: by who owns the directories above the claim.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/owner.h"

namespace kepler::cgroup {
namespace {

const std::string kIdA(64, 'a');
const std::string kIdB(64, 'b');
const std::string kIdC(64, 'c');
const std::string kShortA(12, 'a');
const std::string kShortB(12, 'b');
const std::string kPod = "152bb6d4-0ddf-4332-848a-0095e4e2dadd";
const std::string kOtherPod = "8f14e45f-ceea-467f-a0e6-3a1f6f0b2c11";
const std::string kUser = "/user.slice/user-1000.slice/user@1000.service";

/// A tree in which root owns what is not said to be somebody else's.
struct FakeView {
  std::map<std::string, Directory, std::less<>> directories{};
  std::string own_path = "/";
  uint32_t machine_uid = 0;
  mutable std::vector<std::string> looks{};

  [[nodiscard]] Owner OwnerOf(std::string_view path) const {
    return OwnerOfPath(path, {.machine_uid = machine_uid,
                              .own_path = own_path,
                              .look_at = [this](std::string_view directory) -> std::optional<Directory> {
                                looks.emplace_back(directory);
                                const auto found = directories.find(directory);
                                return found == directories.end() ? Directory{.uid = machine_uid} : found->second;
                              }});
  }
  [[nodiscard]] std::string ContainerOf(std::string_view path) const {
    const Owner owner = OwnerOf(path);
    return owner.container ? owner.container->id : "";
  }
};

TEST(Authority, DirectoriesOfTheMachine_PlainIds) {
  const FakeView view;
  const std::string pod = "/kubepods/burstable/pod" + kPod;
  EXPECT_EQ(view.ContainerOf("/system.slice/docker-" + kIdA + ".scope"), kIdA);
  EXPECT_EQ(view.OwnerOf(pod + "/" + kIdA), OwnerOfPath(pod + "/" + kIdA));
  EXPECT_EQ(view.OwnerOf(pod), OwnerOfPath(pod));
}

TEST(Authority, BelowAUsersDirectory_TheUsersOwn) {
  const FakeView view{.directories = {{kUser, {.uid = 1000}}}};
  EXPECT_EQ(view.ContainerOf(kUser + "/docker-" + kIdA + ".scope"), "uid1000/" + kIdA);
  EXPECT_EQ(view.ContainerOf(kUser + "/user.slice/libpod-" + kIdA + ".scope/container"), "uid1000/" + kIdA);
  const Owner pod = view.OwnerOf(kUser + "/kubepods/besteffort/pod" + kPod + "/" + kIdA);
  EXPECT_EQ(pod.pod_uid, "uid1000/" + kPod);
  EXPECT_EQ(pod.container->id, "uid1000/" + kIdA);
  EXPECT_EQ(pod.qos, "besteffort");
}

TEST(Authority, NameGivenByTheMachine_StaysTheMachines_WhoeverItsDirectoryIsGivenTo) {
  const std::string box = "/lxc.payload.web";
  const std::string scope = "/system.slice/docker-" + kIdA + ".scope";
  const FakeView view{.directories = {{box, {.uid = 100000}}, {scope, {.uid = 100000}}}};
  EXPECT_EQ(view.ContainerOf(box), "web");
  EXPECT_EQ(view.ContainerOf(box + "/init.scope"), "web");
  EXPECT_EQ(view.ContainerOf(scope + "/init.scope"), kIdA);
}

TEST(Authority, DirectoriesThatRootMakesBelowAUsers_AreTheUsers) {
  const FakeView view{.directories = {{"/a", {.uid = 1000}}, {"/a/b", {.uid = 0}}, {"/a/b/c", {.uid = 0}}}};
  EXPECT_EQ(view.ContainerOf("/a/b/c/docker-" + kIdA + ".scope"), "uid1000/" + kIdA);
}

TEST(Authority, UserWithinAUsers_BothAreSaid) {
  const FakeView view{.directories = {{"/a", {.uid = 1000}}, {"/a/b", {.uid = 1001}}}};
  EXPECT_EQ(view.ContainerOf("/a/b/docker-" + kIdA + ".scope"), "uid1000/uid1001/" + kIdA);
}

TEST(Authority, DirectoryInWhichOthersMayMakeCgroups_WhoMadeTheClaim) {
  const std::string claim = "/shared/docker-" + kIdA + ".scope";
  FakeView view{.directories = {{"/shared", {.uid = 0, .shared = true}}, {claim, {.uid = 1000}}}};
  EXPECT_EQ(view.ContainerOf(claim), "uid1000/" + kIdA);
  view.directories[claim].uid = 0;
  EXPECT_EQ(view.ContainerOf(claim), kIdA);
}

TEST(Authority, ClaimWithinAContainer_IsWithinIt) {
  const FakeView view;
  const std::string outer = "/system.slice/docker-" + kIdA + ".scope";
  EXPECT_EQ(view.ContainerOf(outer + "/docker/" + kIdB), kShortA + "/" + kIdB);
  EXPECT_EQ(view.ContainerOf(outer + "/docker/" + kIdB + "/docker/" + kIdC), kShortA + "/" + kShortB + "/" + kIdC);
  const Owner kind = view.OwnerOf(outer + "/kubelet/kubepods/pod" + kPod + "/" + kIdB);
  EXPECT_EQ(kind.pod_uid, kShortA + "/" + kPod);
  EXPECT_EQ(kind.container->id, kShortA + "/" + kIdB);
  EXPECT_EQ(view.ContainerOf("/lxc.payload.web/lxc/db"), "web/db");
}

TEST(Authority, ContainerGivenToAUser_ItsRootIsTheContainer) {
  const std::string box = "/lxc.payload.web";
  const FakeView view{.directories = {{box, {.uid = 100000}}, {box + "/u", {.uid = 101000}}}};
  EXPECT_EQ(view.ContainerOf(box + "/docker/" + kIdA), "web/" + kIdA);
  EXPECT_EQ(view.ContainerOf(box + "/u/docker-" + kIdA + ".scope"), "web/uid101000/" + kIdA);
}

TEST(Authority, PodWithinAPodsContainer_IsAPartOfThatPod) {
  const FakeView view;
  const std::string container = "/kubepods/burstable/pod" + kPod + "/" + kIdA;
  for (const auto& inside : {"/docker/" + kIdB, "/kubepods/pod" + kOtherPod + "/" + kIdB}) {
    const Owner owner = view.OwnerOf(container + inside);
    EXPECT_EQ(owner.pod_uid, kPod) << inside;
    EXPECT_EQ(owner.qos, "burstable") << inside;
    EXPECT_EQ(owner.container->id, kShortA + "/" + kIdB) << inside;
  }
  EXPECT_EQ(view.ContainerOf(container + "/kubepods/pod" + kOtherPod), kIdA) << "and without a container nothing";
}

TEST(Authority, InsideTheContainerThatThisProcessIsIn_PlainIds) {
  const std::string node = "/docker/" + kIdA;
  const std::string pod = node + "/kubelet/kubepods/pod" + kPod + "/" + kIdB;
  for (const std::string& own : {node, node + "/kubelet/kubepods/besteffort/pod" + kOtherPod + "/" + kIdC}) {
    const FakeView view{.own_path = own};
    EXPECT_EQ(view.OwnerOf(pod), OwnerOfPath(pod)) << own;
    EXPECT_EQ(view.ContainerOf("/docker/" + kIdC + "/docker/" + kIdB), std::string(12, 'c') + "/" + kIdB) << own;
    EXPECT_EQ(view.ContainerOf(pod + "/docker/" + kIdC), kShortB + "/" + kIdC) << own;
  }
  const FakeView sibling{.own_path = node + "a"};
  EXPECT_EQ(sibling.ContainerOf(node + "/docker/" + kIdB), kShortA + "/" + kIdB) << "a longer name is another one";
}

TEST(Authority, TreeOfAnotherUser_ItsOwnerIsTheMachine) {
  const FakeView view{.directories = {{"/a", {.uid = 0}}}, .machine_uid = 65534};
  EXPECT_EQ(view.ContainerOf("/docker/" + kIdA), kIdA);
  EXPECT_EQ(view.ContainerOf("/a/docker/" + kIdA), "uid0/" + kIdA);
}

TEST(Authority, NoDirectoryToBeSeen_TheNameOfALoginsServiceSaysIt) {
  EXPECT_EQ(OwnerOfPath(kUser + "/docker-" + kIdA + ".scope", TreeView{}).container->id, "uid1000/" + kIdA);
  for (const std::string name : {"user@.service", "user@x.service", "user@1000", "auser@1000.service"})
    EXPECT_EQ(OwnerOfPath("/" + name + "/docker-" + kIdA + ".scope", TreeView{}).container->id, kIdA) << name;
}

TEST(Authority, NothingClaimed_NothingIsLookedAt) {
  const FakeView view{.directories = {{kUser, {.uid = 1000}}}};
  EXPECT_EQ(view.OwnerOf(kUser + "/app.slice/firefox.service"), Owner{});
  EXPECT_TRUE(view.looks.empty());
  EXPECT_EQ(view.ContainerOf("/a/b/docker-" + kIdA + ".scope/c/d"), kIdA);
  EXPECT_EQ(view.looks, (std::vector<std::string>{"/a", "/a/b"}));
}

TEST(Authority, IdOfAnyName_CannotLookLikeAnotherAuthoritys) {
  EXPECT_EQ(OwnerOfPath("/machine.slice/machine-uid1000\\x2fweb.scope").container->id, "uid1000\\x2fweb");
  EXPECT_EQ(AuthorityOf("uid1000/" + kShortA + "/" + kIdB), "uid1000/" + kShortA + "/");
  EXPECT_EQ(PlainId("uid1000/" + kShortA + "/" + kIdB), kIdB);
  EXPECT_EQ(AuthorityOf(kIdB), "");
  EXPECT_EQ(PlainId(kIdB), kIdB);
}

RC_GTEST_PROP(Authority, AnyBytesBelowAUsersDirectory_AreNeverAPlainClaim, ()) {
  const FakeView view{.directories = {{"/a", {.uid = 1000}}}};
  const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "/", ":", "..", ".slice:", ".scope", "docker-", "docker/", "kubepods/", "pod" + kPod, "lxc/", "machine-", "\\x2f",
      "libpod-", "/payload", kIdA, kIdB, "\n", "x"));
  std::string path = "/a/";
  for (const auto& part : parts) path += part;
  const Owner owner = view.OwnerOf(path);
  if (owner.container) RC_ASSERT(owner.container->id.starts_with("uid1000/"));
  if (!owner.pod_uid.empty()) RC_ASSERT(owner.pod_uid.starts_with("uid1000/"));
}

}  // namespace
}  // namespace kepler::cgroup
