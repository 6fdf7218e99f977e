#include <gtest/gtest.h>

#include "os/procfs.h"

namespace kepler::os {
namespace {

TEST(MountInfo, LinesWithAndWithoutOptionalFields_AreParsed) {
  const auto mounts = ParseMountInfo(
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
      "33 31 0:30 /docker/ab /sys/fs/cgroup/cpuacct ro master:4 shared:2 - cgroup cgroup rw,cpu,cpuacct\n");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0], (Mount{"/", "/sys/fs/cgroup/unified", "cgroup2", "cgroup2", "rw"}));
  EXPECT_EQ(mounts[1], (Mount{"/docker/ab", "/sys/fs/cgroup/cpuacct", "cgroup", "cgroup", "rw,cpu,cpuacct"}));
}

TEST(MountInfo, OctalEscapes_AreUndone) {
  const auto mounts = ParseMountInfo(R"(1 2 0:3 / /a\040b\134c\0 rw - tmpfs none rw)");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].mount_point, "/a b\\c\\0");
}

TEST(MountInfo, MalformedAndTruncatedLines_AreLeftOut) {
  const auto mounts = ParseMountInfo(
      "\n1 2 0:3 / /x rw\n1 2 0:3 / - tmpfs none rw\n1 2 0:3 / /x rw - tmpfs none\n1 2 0:3 / /good rw - tmpfs none "
      "rw\n1 2");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].mount_point, "/good");
  EXPECT_TRUE(ParseMountInfo("").empty());
}

}  // namespace
}  // namespace kepler::os
