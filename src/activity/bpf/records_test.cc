#include "activity/bpf/records.h"

#include <gtest/gtest.h>

#include <cstring>

#include "activity/bpf/task_labels.h"

namespace kepler::activity::bpf {
namespace {

template <class T>
std::span<const std::byte> BytesOf(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

TEST(ParseRecord, Freed_IsTheTask) {
  kepler_task_freed freed = {};
  freed.record.kind = KEPLER_TASK_FREED;
  freed.task.ran = 7;
  const auto record = ParseRecord(BytesOf(freed));
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<const kepler_task_freed*>(*record)->task.ran, 7U);
}

TEST(ParseRecord, Exec_PathUpToItsNul) {
  kepler_exec exec = {};
  exec.record.kind = KEPLER_EXEC;
  exec.tgid = 9;
  exec.start = 77;
  std::strcpy(exec.path, "/bin/true");
  const auto record = ParseRecord(BytesOf(exec));
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<const kepler_exec*>(*record)->tgid, 9);
  EXPECT_EQ(std::get<const kepler_exec*>(*record)->start, 77U);
  EXPECT_EQ(TextOf(std::get<const kepler_exec*>(*record)->path), "/bin/true");
}

TEST(ParseRecord, ExecPathWithoutNul_EndsWithItsField) {
  kepler_exec exec = {};
  exec.record.kind = KEPLER_EXEC;
  std::memset(exec.path, 'x', sizeof(exec.path));
  const auto record = ParseRecord(BytesOf(exec));
  ASSERT_TRUE(record);
  EXPECT_EQ(TextOf(std::get<const kepler_exec*>(*record)->path), std::string(KEPLER_PATH_BYTES, 'x'));
}

TEST(ParseRecord, Cgroup_CutPathIsNoPath) {
  kepler_cgroup cgroup = {};
  cgroup.record.kind = KEPLER_CGROUP_REMOVED;
  cgroup.id = 5;
  cgroup.hierarchy = 3;
  std::strcpy(cgroup.path, "/a");
  auto record = ParseRecord(BytesOf(cgroup));
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<const kepler_cgroup*>(*record)->record.kind, uint32_t{KEPLER_CGROUP_REMOVED});
  EXPECT_EQ(PathOf(*std::get<const kepler_cgroup*>(*record)), "/a");
  std::memset(cgroup.path, 'x', sizeof(cgroup.path) - 1);
  record = ParseRecord(BytesOf(cgroup));
  ASSERT_TRUE(record);
  EXPECT_EQ(PathOf(*std::get<const kepler_cgroup*>(*record)), "");
}

TEST(ParseRecord, Moved_IsWhoWhereAndWhatItRanBefore) {
  kepler_moved moved = {};
  moved.record.kind = KEPLER_TASK_MOVED;
  moved.tgid = 9;
  moved.start = 77;
  moved.ran = 1234;
  moved.from = 4711;
  moved.hierarchy = 2;
  const auto record = ParseRecord(BytesOf(moved));
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<const kepler_moved*>(*record)->tgid, 9);
  EXPECT_EQ(std::get<const kepler_moved*>(*record)->start, 77U);
  EXPECT_EQ(std::get<const kepler_moved*>(*record)->ran, 1234U);
  EXPECT_EQ(std::get<const kepler_moved*>(*record)->from, 4711U);
  EXPECT_EQ(std::get<const kepler_moved*>(*record)->hierarchy, 2U);
}

TEST(ParseRecord, Malformed_IsAnError) {
  alignas(8) const std::array<std::byte, 4> nothing = {};
  EXPECT_FALSE(ParseRecord(nothing));
  EXPECT_FALSE(ParseRecord({}));
  kepler_record unknown = {.kind = 99, .pad = 0};
  EXPECT_FALSE(ParseRecord(BytesOf(unknown)));
  for (const uint32_t kind :
       {KEPLER_TASK_FREED, KEPLER_EXEC, KEPLER_CGROUP_MADE, KEPLER_CGROUP_REMOVED, KEPLER_TASK_MOVED}) {
    kepler_cgroup truncated = {};
    truncated.record.kind = kind;
    EXPECT_FALSE(ParseRecord(BytesOf(truncated).first(64))) << kind;
  }
}

}  // namespace
}  // namespace kepler::activity::bpf
