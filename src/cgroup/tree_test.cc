#include "cgroup/tree.h"

#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::cgroup {
namespace {

using std::chrono::microseconds;

TEST(Trees, UnifiedAtTheRoot_OnlyThat) {
  testing::FakeTree tree;
  tree.Write("sys/fs/cgroup/cgroup.controllers", "cpu\n");
  const auto trees = FindTrees(tree.Path("sys"), tree.Path("proc"));
  ASSERT_TRUE(trees.unified);
  EXPECT_EQ(trees.unified->path, tree.Path("sys/fs/cgroup"));
  EXPECT_FALSE(trees.cpuacct);
  EXPECT_EQ(trees.v1_dir, "");
}

TEST(Trees, V1UnderEitherName_IsFound) {
  for (const char* name : {"cpuacct", "cpu,cpuacct"}) {
    testing::FakeTree tree;
    tree.Write("sys/fs/cgroup/" + std::string(name) + "/cpuacct.usage", "1\n");
    const auto trees = FindTrees(tree.Path("sys"), tree.Path("proc"));
    ASSERT_TRUE(trees.cpuacct) << name;
    EXPECT_EQ(trees.cpuacct->path, tree.Path("sys/fs/cgroup/" + std::string(name)));
    EXPECT_FALSE(trees.unified);
    EXPECT_EQ(trees.v1_dir, tree.Path("sys/fs/cgroup"));
  }
}

TEST(Trees, Hybrid_Both) {
  testing::FakeTree tree;
  tree.Write("sys/fs/cgroup/cpuacct/cpuacct.usage", "1\n");
  tree.Write("sys/fs/cgroup/unified/cgroup.controllers", "\n");
  const auto trees = FindTrees(tree.Path("sys"), tree.Path("proc"));
  EXPECT_TRUE(trees.cpuacct);
  ASSERT_TRUE(trees.unified);
  EXPECT_EQ(trees.unified->path, tree.Path("sys/fs/cgroup/unified"));
}

TEST(Trees, NotBelowSysfs_MountinfoIsAsked) {
  testing::FakeTree tree;
  tree.Write("v2/cgroup.controllers", "cpu\n");
  tree.Write("v1/cpuacct.usage", "1\n");
  tree.Write("other/cpuacct.usage", "1\n");
  tree.Write("proc/self/mountinfo", "1 2 0:3 / " + tree.Path("v2") + " rw - cgroup2 none rw\n1 2 0:3 / " +
                                        tree.Path("other") + " rw - cgroup none rw,memory\n1 2 0:3 / " +
                                        tree.Path("v1") + " rw - cgroup none rw,cpu,cpuacct\n");
  const auto trees = FindTrees(tree.Path("sys"), tree.Path("proc"));
  ASSERT_TRUE(trees.unified);
  EXPECT_EQ(trees.unified->path, tree.Path("v2"));
  ASSERT_TRUE(trees.cpuacct);
  EXPECT_EQ(trees.cpuacct->path, tree.Path("v1"));
  EXPECT_EQ(trees.v1_dir, tree.root());
}

TEST(Trees, Nowhere_IsNothing) {
  testing::FakeTree tree;
  tree.Write("proc/self/mountinfo", "1 2 0:3 / /nonexistent rw - cgroup2 none rw\n");
  const auto trees = FindTrees(tree.Path("sys"), tree.Path("proc"));
  EXPECT_FALSE(trees.unified || trees.cpuacct);
}

TEST(CgroupUsage, CpuStat_MicrosecondsAnywhereInTheFile) {
  EXPECT_EQ(*ParseCpuStat("usage_usec 12\nuser_usec 7\n"), microseconds(12));
  EXPECT_EQ(*ParseCpuStat("nr_periods 1\nusage_usec 9"), microseconds(9));
}

TEST(CgroupUsage, CpuStatMalformedOrTruncated_IsAnError) {
  for (const char* text : {"", "usage_usec", "usage_usec \n", "usage_usec x\n", "usage_usec -1\n", "user_usec 5\n",
                           "usage_usec 18446744073709551615\n", "xusage_usec 5\n"}) {
    EXPECT_FALSE(ParseCpuStat(text)) << text;
  }
}

TEST(CgroupUsage, Cpuacct_Nanoseconds_MalformedIsAnError) {
  EXPECT_EQ(*ParseCpuacctUsage("68221745879\n"), Nanoseconds(68221745879));
  for (const char* text : {"", "\n", "x", "-1", "1 2"}) EXPECT_FALSE(ParseCpuacctUsage(text)) << text;
}

TEST(CgroupUsage, ReadOfDirectory_OkMissingMalformed) {
  testing::FakeTree tree;
  tree.Write("c/cpu.stat", "usage_usec 3\n");
  tree.Write("c/cpuacct.usage", "7\n");
  tree.MakeDir("empty");
  tree.Write("bad/cpu.stat", "nothing");
  os::ReadBuffer buffer;
  const auto dir = os::OpenDir(tree.Path("c"));
  EXPECT_EQ(*ReadUsage(dir->get(), Version::kUnified, buffer), microseconds(3));
  EXPECT_EQ(*ReadUsage(dir->get(), Version::kCpuacct, buffer), Nanoseconds(7));
  const auto empty = os::OpenDir(tree.Path("empty"));
  EXPECT_EQ(ReadUsage(empty->get(), Version::kUnified, buffer).error().kind, ErrorKind::kNotFound);
  const auto bad = os::OpenDir(tree.Path("bad"));
  EXPECT_EQ(ReadUsage(bad->get(), Version::kUnified, buffer).error().kind, ErrorKind::kMalformed);
}

TEST(Cgroup, RootAndHolder_AreRecognised) {
  testing::FakeTree tree;
  tree.Write("child/cgroup.events", "populated 1\n");
  tree.Write("child/cgroup.procs", "12\n345\n");
  const auto root = os::OpenDir(tree.root());
  const auto child = os::OpenDir(tree.Path("child"));
  os::ReadBuffer buffer;
  EXPECT_TRUE(IsUnifiedRoot(root->get()));
  EXPECT_FALSE(IsUnifiedRoot(child->get()));
  EXPECT_TRUE(Holds(child->get(), 345, buffer));
  EXPECT_FALSE(Holds(child->get(), 34, buffer));
  EXPECT_FALSE(Holds(root->get(), 12, buffer)) << "no cgroup.procs at all";
}

}  // namespace
}  // namespace kepler::cgroup
