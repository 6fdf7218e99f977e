#include "activity/procfs/membership_table.h"

#include <gtest/gtest.h>

namespace kepler::activity::procfs {
namespace {

TEST(MembershipTable, SameText_SameEntry) {
  cgroup::OwnerFinder owners({}, {}, 0);
  MembershipTable table(owners);
  const auto a = table.Acquire("0::/a\n");
  const auto b = table.Acquire("0::/b\n");
  EXPECT_EQ(table.Acquire("0::/a\n"), a);
  EXPECT_NE(a, b);
  EXPECT_EQ(table[a].cgroups->lines[0].path, "/a");
  EXPECT_EQ(table[a].users, 2U);
}

TEST(MembershipTable, LastUserGone_EntryIsFreedAndUsedAgain) {
  cgroup::OwnerFinder owners({}, {}, 0);
  MembershipTable table(owners);
  const auto a = table.Acquire("0::/a\n");
  table[a].place.epoch = 9;
  table.Release(a);
  EXPECT_EQ(table.size(), 0U);
  const auto b = table.Acquire("0::/b\n");
  EXPECT_EQ(b, a);
  EXPECT_EQ(table[b].place.epoch, 0U) << "nothing of the former owner is left";
}

TEST(MembershipTable, ManyThatCameAndWent_AreNotKept) {
  cgroup::OwnerFinder owners({}, {}, 0);
  MembershipTable table(owners);
  for (int i = 0; i < 10'000; ++i) table.Release(table.Acquire("0::/c" + std::to_string(i) + "\n"));
  EXPECT_EQ(table.size(), 0U);
  EXPECT_LE(table.entries().size(), 2U);
}

TEST(MembershipTable, UnreadableOrMalformed_IsTheEntryWithoutLines) {
  cgroup::OwnerFinder owners({}, {}, 0);
  MembershipTable table(owners);
  EXPECT_EQ(table.Acquire(""), MembershipTable::kUnreadable);
  EXPECT_EQ(table.Acquire("nonsense"), MembershipTable::kUnreadable);
  ASSERT_NE(table[MembershipTable::kUnreadable].cgroups, nullptr);
  EXPECT_TRUE(table[MembershipTable::kUnreadable].cgroups->lines.empty());
  table.Release(MembershipTable::kUnreadable);
  table.Release(MembershipTable::kUnreadable);
  EXPECT_NE(table[MembershipTable::kUnreadable].cgroups, nullptr) << "it is never freed";
}

}  // namespace
}  // namespace kepler::activity::procfs
