#include "cgroup/memory_limit.h"

#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::cgroup {
namespace {

using Limit = std::optional<uint64_t>;

TEST(ParseMemoryLimit, BytesOrMax) {
  EXPECT_EQ(*ParseMemoryLimit("536870912\n"), Limit(536'870'912));
  EXPECT_EQ(*ParseMemoryLimit("0\n"), Limit(0));
  EXPECT_EQ(*ParseMemoryLimit("max\n"), std::nullopt);
  EXPECT_EQ(*ParseMemoryLimit("9223372036854771712\n"), Limit(9'223'372'036'854'771'712U)) << "no limit in v1";
}

TEST(ParseMemoryLimit, Malformed) {
  for (const char* text : {"", "\n", "m", "maximum", "-1", "1.5", "12 13", "0x10", "99999999999999999999999"})
    EXPECT_EQ(ParseMemoryLimit(text).error().kind, ErrorKind::kMalformed) << text;
}

class ReadMemoryLimitTest : public ::testing::Test {
 protected:
  ReadMemoryLimitTest() { tree_.Write("meminfo", "MemTotal:       4194304 kB\n"); }
  /// `root`: of the file system, as mountinfo has it.
  void Mount(const std::string& type, const std::string& root, const std::string& directory,
             const std::string& options = "rw") {
    mounts_ += "30 23 0:26 " + root + " " + tree_.Path(directory) + " rw - " + type + " cgroup " + options + "\n";
    tree_.Write("self/mountinfo", mounts_);
  }
  [[nodiscard]] Limit Read() const { return ReadMemoryLimit(tree_.Path("")); }

  kepler::testing::FakeTree tree_;
  std::string mounts_;
};

constexpr uint64_t kMib = 1 << 20;

TEST_F(ReadMemoryLimitTest, NoCgroups_TheMachinesMemory) {
  EXPECT_EQ(Read(), 4096 * kMib);
  tree_.Write("meminfo", "MemFree: 1 kB\n");
  EXPECT_EQ(Read(), std::nullopt);
}

TEST_F(ReadMemoryLimitTest, Unified_TheSmallestOnTheWayUp) {
  Mount("cgroup2", "/", "cg");
  tree_.Write("self/cgroup", "0::/kubepods/pod1/agent\n");
  tree_.Write("cg/kubepods/pod1/agent/memory.max", "536870912\n");
  tree_.Write("cg/kubepods/pod1/memory.max", "max\n");
  EXPECT_EQ(Read(), 512 * kMib);
  tree_.Write("cg/kubepods/memory.max", "134217728\n");
  EXPECT_EQ(Read(), 128 * kMib);
  tree_.Write("cg/kubepods/memory.max", "no number\n");
  EXPECT_EQ(Read(), 512 * kMib);
  tree_.Write("cg/kubepods/pod1/agent/memory.max", "9999999999999\n");
  EXPECT_EQ(Read(), 4096 * kMib) << "more than there is";
}

TEST_F(ReadMemoryLimitTest, InACgroupNamespace_OwnCgroupIsTheTop_AndTheHostsTreeIsNotOurs) {
  Mount("cgroup2", "/../../..", "host");
  Mount("cgroup2", "/", "cg");
  tree_.Write("self/cgroup", "0::/\n");
  tree_.Write("host/memory.max", "1048576\n");
  tree_.Write("cg/memory.max", "536870912\n");
  EXPECT_EQ(Read(), 512 * kMib);
}

TEST_F(ReadMemoryLimitTest, FirstVersion_OfTheMemoryHierarchy) {
  Mount("cgroup", "/", "cpu", "rw,cpu,cpuacct");
  Mount("cgroup", "/", "memory", "rw,memory");
  tree_.Write("self/cgroup", "5:cpu,cpuacct:/tiny\n4:memory:/kubepods/agent\n0::/\n");
  tree_.Write("cpu/tiny/memory.limit_in_bytes", "1048576\n");
  tree_.Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree_.Write("memory/kubepods/agent/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(Read(), 512 * kMib);
}

TEST_F(ReadMemoryLimitTest, FirstVersion_AContainersMountIsItsOwnCgroup) {
  Mount("cgroup", "/kubepods/agent", "memory", "rw,memory");
  tree_.Write("self/cgroup", "4:memory:/kubepods/agent\n");
  tree_.Write("memory/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(Read(), 512 * kMib);
  tree_.Write("self/cgroup", "4:memory:/kubepods/agent-2\n");
  EXPECT_EQ(Read(), 4096 * kMib) << "that is another cgroup";
}

TEST(ReadMemoryLimit, OfThisProcess) { EXPECT_GT(ReadMemoryLimit().value_or(0), 16 * kMib); }

}  // namespace
}  // namespace kepler::cgroup
