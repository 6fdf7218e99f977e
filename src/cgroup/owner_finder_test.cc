#include "cgroup/owner_finder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "testing/fake_tree.h"

namespace kepler::cgroup {
namespace {

const std::string kFirst(64, 'a');
const std::string kSecond(64, 'b');
const std::string kLogin = "/user.slice/user-1000.slice/user@1000.service";
const std::string kClaim = kLogin + "/docker-" + kFirst + ".scope";

/// Trees of a hybrid machine on a file system. Their owners can be chosen by root only.
class OwnerFinderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"unified/cgroup.controllers", "cpu,cpuacct/cpuacct.usage", "systemd/tasks"})
      tree_.Write(file, "");
    for (const std::string hierarchy : {"unified", "cpu,cpuacct", "systemd"}) tree_.MakeDir(hierarchy + kClaim);
    for (const std::string hierarchy : {"unified", "cpu,cpuacct", "systemd"})
      tree_.Write(hierarchy + "/cgroup.procs", std::to_string(kPid) + "\n");
  }
  void GiveLoginTo(uid_t uid) {
    for (const std::string hierarchy : {"unified", "cpu,cpuacct", "systemd"})
      ASSERT_EQ(::chown(tree_.Path(hierarchy + kLogin).c_str(), uid, uid), 0);
  }
  [[nodiscard]] OwnerFinder Finder(const os::CgroupLines& own) const {
    return {{.cpuacct = Tree{Version::kCpuacct, tree_.Path("cpu,cpuacct")},
             .unified = Tree{Version::kUnified, tree_.Path("unified")},
             .v1_dir = tree_.root()},
            own,
            kPid};
  }

  static constexpr int32_t kPid = 4321;
  testing::FakeTree tree_;
  const os::CgroupLines own_ = {{4, "cpu,cpuacct", "/"}, {1, "name=systemd", "/"}, {0, "", "/"}};
};

TEST_F(OwnerFinderTest, DirectoryOfAUser_InEveryHierarchy_ItsClaimsAreTheUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  GiveLoginTo(1007);
  OwnerFinder finder = Finder(own_);
  EXPECT_EQ(finder.OfCgroup(Version::kUnified, kClaim).container->id, "uid1007/" + kFirst);
  EXPECT_EQ(finder.OfCgroup(Version::kCpuacct, kClaim).container->id, "uid1007/" + kFirst);
  for (const os::CgroupLine& line : own_) {
    const os::CgroupLines lines = {{line.hierarchy, line.controllers, kClaim}};
    EXPECT_EQ(finder.OfProcess(lines).container->id, "uid1007/" + kFirst) << line.controllers;
  }
}

TEST_F(OwnerFinderTest, DirectoryThatAGroupMayWriteTo_WhoMadeTheClaim) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  GiveLoginTo(0);
  const std::string login = tree_.Path("unified" + kLogin);
  ASSERT_EQ(::chown(tree_.Path("unified" + kClaim).c_str(), 1007, 1007), 0);
  for (const auto& [group, id] : {std::pair(0U, kFirst), std::pair(1007U, "uid1007/" + kFirst)}) {
    ASSERT_EQ(::chown(login.c_str(), 0, group), 0);
    tree_.Chmod("unified" + kLogin, 0775);
    EXPECT_EQ(Finder(own_).OfCgroup(Version::kUnified, kClaim).container->id, id) << group;
  }
}

TEST_F(OwnerFinderTest, ClaimThatIsGone_WhoOwnsWhatIsLeftAboveItStillCounts) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  GiveLoginTo(1007);
  tree_.Remove("unified" + kClaim);
  EXPECT_EQ(Finder(own_).OfCgroup(Version::kUnified, kClaim).container->id, "uid1007/" + kFirst);
}

TEST_F(OwnerFinderTest, ClaimsOfTheMachine_ArePlain) {
  OwnerFinder finder = Finder(own_);
  const std::string path = "/system.slice/docker-" + kFirst + ".scope";
  for (const std::string hierarchy : {"unified", "cpu,cpuacct"}) tree_.MakeDir(hierarchy + path);
  EXPECT_EQ(finder.OfCgroup(Version::kUnified, path), OwnerOfPath(path));
  EXPECT_EQ(finder.OfCgroup(Version::kUnified, "/never/made/docker/" + kFirst).container->id, kFirst);
  EXPECT_EQ(finder.OfCgroup(Version::kUnified, "/system.slice/ssh.service"), Owner{});
  EXPECT_EQ(finder.OfProcess({}), Owner{});
}

TEST_F(OwnerFinderTest, CgroupNamespaceOfOurOwn_PathsAreTranslated) {
  const std::string pod = "/kubepods/pod152bb6d4-0ddf-4332-848a-0095e4e2dadd";
  const std::string own = pod + "/" + kSecond;
  tree_.MakeDir("unified" + own);
  tree_.Write("unified/cgroup.procs", "");
  tree_.Write("unified" + own + "/cgroup.procs", std::to_string(kPid) + "\n");
  OwnerFinder finder = Finder({{0, "", "/"}});
  const Owner sibling = finder.OfProcess({{0, "", "/../" + kFirst}});
  EXPECT_EQ(sibling, OwnerOfPath(pod + "/" + kFirst)) << "the pod is named above the namespace";
  EXPECT_EQ(finder.OfProcess({{0, "", "/docker/" + kFirst}}).container->id, kFirst) << "made by us";
  EXPECT_EQ(finder.OfProcess({{0, "", "/../" + kFirst + "/docker/" + kSecond}}).container->id,
            std::string(12, 'a') + "/" + kSecond);
}

TEST_F(OwnerFinderTest, PartOfATreeIsVisible_PathsBeginAboveIt) {
  const std::string own = "/docker/" + kSecond;
  OwnerFinder finder = Finder({{0, "", own}});
  EXPECT_EQ(finder.OfProcess({{0, "", own + kClaim}}).container->id,
            ::geteuid() == 0 ? kFirst : finder.OfCgroup(Version::kUnified, kClaim).container->id)
      << "root owns it, whatever it is called";
  EXPECT_EQ(finder.OfProcess({{0, "", "/docker/" + kFirst + "/docker/" + kSecond}}).container->id,
            std::string(12, 'a') + "/" + kSecond);
}

TEST_F(OwnerFinderTest, NoTreeToBeSeen_PathsAloneDecide) {
  OwnerFinder finder({}, own_, kPid);
  EXPECT_EQ(finder.OfProcess({{0, "", kClaim}}).container->id, "uid1000/" + kFirst);
  EXPECT_EQ(finder.OfCgroup(Version::kUnified, "/docker/" + kFirst).container->id, kFirst);
}

}  // namespace
}  // namespace kepler::cgroup
