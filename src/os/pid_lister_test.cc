#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "os/dirents.h"
#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

std::vector<int32_t> PidsOf(const std::vector<ListedPid>& listed) {
  std::vector<int32_t> pids;
  pids.reserve(listed.size());
  for (const auto& entry : listed) pids.push_back(entry.pid);
  return pids;
}

TEST(PidLister, NumericEntriesOnly_AscendingWithTheirInode) {
  testing::FakeTree tree;
  for (const char* name : {"10", "9", "200", "self", "1x", "007", "0", "99999999999", "-3", "sys"}) tree.MakeDir(name);
  auto lister = PidLister::Open(tree.root());
  ASSERT_TRUE(lister) << lister.error().message;
  std::vector<ListedPid> listed;
  ASSERT_TRUE(lister->List(listed));
  EXPECT_EQ(PidsOf(listed), (std::vector<int32_t>{9, 10, 200}));
  struct stat status = {};
  ASSERT_EQ(::stat(tree.Path("10").c_str(), &status), 0);
  EXPECT_EQ(listed[1].inode, status.st_ino);
}

TEST(PidLister, ManyEntries_AllAreFound_AndEachListIsFresh) {
  testing::FakeTree tree;
  for (int pid = 1; pid <= 5000; ++pid) tree.MakeDir(std::to_string(pid));
  auto lister = PidLister::Open(tree.root());
  ASSERT_TRUE(lister);
  std::vector<ListedPid> listed;
  ASSERT_TRUE(lister->List(listed));
  EXPECT_EQ(listed.size(), 5000U);
  EXPECT_TRUE(std::ranges::is_sorted(listed, {}, &ListedPid::pid));
  tree.Remove("77");
  tree.MakeDir("6000");
  ASSERT_TRUE(lister->List(listed));
  EXPECT_EQ(listed.size(), 5000U);
  EXPECT_EQ(listed.back().pid, 6000);
}

TEST(PidLister, RealKernel_ListsThisProcess) {
  auto lister = PidLister::Open("/proc");
  ASSERT_TRUE(lister);
  std::vector<ListedPid> listed;
  ASSERT_TRUE(lister->List(listed));
  EXPECT_TRUE(std::ranges::binary_search(listed, ::getpid(), {}, &ListedPid::pid));
}

TEST(PidLister, MissingProcfs_IsAnError) {
  EXPECT_EQ(PidLister::Open("/nonexistent-procfs").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace kepler::os
