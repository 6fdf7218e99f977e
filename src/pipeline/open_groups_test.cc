#include "pipeline/open_groups.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::pipeline {
namespace {

using attribution::kNoRow;

TEST(OpenGroups, FindsByKindAndId) {
  OpenGroups groups;
  groups.Open(3, "docker", "a");
  EXPECT_EQ(groups.Find("docker", "a"), 3u);
  EXPECT_EQ(groups.Find("podman", "a"), kNoRow);
  EXPECT_EQ(groups.Find("docker", "b"), kNoRow);
  EXPECT_EQ(groups.Find("dockera", ""), kNoRow);
  EXPECT_TRUE(groups.IsRunning("docker", "a"));
  EXPECT_FALSE(groups.IsRunning("docker", "b"));
  EXPECT_EQ(groups.size(), 4u);
}

TEST(OpenGroups, EndedAndListed_IsFoundAndDoesNotRunUntilItIsTouched) {
  OpenGroups groups;
  groups.Open(0, "", "pod");
  groups.Close({.ended = {0}, .freed = {}});
  EXPECT_EQ(groups.Find("", "pod"), 0u);
  EXPECT_FALSE(groups.IsRunning("", "pod"));
  groups.Touch(0);
  EXPECT_TRUE(groups.IsRunning("", "pod"));
}

TEST(OpenGroups, Freed_IsForgottenAndTheRowIsAnothersThen) {
  OpenGroups groups;
  groups.Open(0, "docker", "a");
  groups[0].pod = 7;
  groups.Close({.ended = {}, .freed = {0}});
  EXPECT_EQ(groups.Find("docker", "a"), kNoRow);
  groups.Open(0, "docker", "b");
  EXPECT_EQ(groups.Find("docker", "b"), 0u);
  EXPECT_EQ(groups[0].pod, kNoRow);
}

TEST(OpenGroups, OpenedAgain_KeepsItsPod) {
  OpenGroups groups;
  groups.Open(0, "docker", "a");
  groups[0].pod = 7;
  groups.Open(0, "docker", "a");
  EXPECT_EQ(groups[0].pod, 7u);
}

/// Ids that are stored in the object, which must not move when there are more.
TEST(OpenGroups, Many_AreAllFound) {
  OpenGroups groups;
  for (attribution::Row row = 0; row < 1'000; ++row) groups.Open(row, "docker", std::to_string(row));
  for (attribution::Row row = 0; row < 1'000; ++row) ASSERT_EQ(groups.Find("docker", std::to_string(row)), row);
}

}  // namespace
}  // namespace kepler::pipeline
