#include <gtest/gtest.h>

#include "cgroup/tree.h"
#include "testing/fake_tree.h"

namespace kepler::cgroup {
namespace {

constexpr int32_t kOwnPid = 777;

class CgroupPathsTest : public ::testing::Test {
 protected:
  Paths Discover(std::string_view own_path) {
    return Paths::Discover({Version::kUnified, tree_.Path("cg")}, own_path, kOwnPid);
  }
  void HoldUs(const std::string& path) { tree_.Write("cg" + path + "/cgroup.procs", "1\n777\n"); }
  testing::FakeTree tree_;
};

TEST_F(CgroupPathsTest, SameNamespace_PathsAreNames) {
  HoldUs("/kube/agent");
  const auto paths = Discover("/kube/agent");
  EXPECT_TRUE(paths.reliable());
  EXPECT_EQ(paths.NameOf("/docker/ab"), "/docker/ab");
  EXPECT_EQ(paths.NameOf("/"), "/");
  EXPECT_EQ(paths.NameOf("/.."), std::nullopt);
}

TEST_F(CgroupPathsTest, OwnNamespaceOnTheHostsTree_PathsAreTranslated) {
  HoldUs("/kube/pod/agent");
  tree_.MakeDir("cg/docker/ab");
  const auto paths = Discover("/");
  EXPECT_TRUE(paths.reliable());
  EXPECT_EQ(paths.namespace_root(), "/kube/pod/agent");
  EXPECT_EQ(paths.NameOf("/"), "/kube/pod/agent");
  EXPECT_EQ(paths.NameOf("/../other"), "/kube/pod/other");
  EXPECT_EQ(paths.NameOf("/../../../docker/ab"), "/docker/ab");
  EXPECT_EQ(paths.NameOf("/../../.."), "/");
  EXPECT_EQ(paths.NameOf("/../../../.."), std::nullopt);
}

TEST_F(CgroupPathsTest, BelowTheRootOfOurNamespace_TheRootIsStillFound) {
  HoldUs("/kube/pod/agent/worker");
  EXPECT_EQ(Discover("/worker").namespace_root(), "/kube/pod/agent");
}

TEST_F(CgroupPathsTest, PartOfTheTreeMounted_NamesKeepTheHiddenPrefix) {
  HoldUs("/worker");
  const auto paths = Discover("/docker/ab/worker");
  EXPECT_TRUE(paths.reliable());
  EXPECT_EQ(paths.prefix(), "/docker/ab");
  EXPECT_EQ(paths.NameOf("/docker/ab/worker"), "/docker/ab/worker");
  EXPECT_EQ(paths.NameOf("/docker/ab"), "/docker/ab");
  EXPECT_EQ(paths.NameOf("/docker/abc"), std::nullopt);
  EXPECT_EQ(paths.NameOf("/"), std::nullopt);
}

TEST_F(CgroupPathsTest, TreeWithoutUs_IsNotReliable) {
  tree_.Write("cg/cgroup.procs", "1\n");
  EXPECT_FALSE(Discover("/kube/agent").reliable());
}

TEST_F(CgroupPathsTest, NoOwnLine_PathsAreTakenAsTheyAre) {
  const auto paths = Discover("");
  EXPECT_TRUE(paths.reliable());
  EXPECT_EQ(paths.NameOf("/a//b/./c/../d"), "/a/b/d");
}

}  // namespace
}  // namespace kepler::cgroup
