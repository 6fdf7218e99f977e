#include "modelserver/store_lock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "testing/fake_tree.h"

namespace kepler::modelserver {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

struct StoreLockTest : ::testing::Test {
  kepler::testing::FakeTree store;

  [[nodiscard]] Result<StoreLock> Take(std::string_view name = "m", std::string_view holder = "a test") const {
    return StoreLock::Take(store.root(), name, holder, milliseconds(0));
  }
};

TEST_F(StoreLockTest, ASecondWriterLearnsWhoHasTheLock) {
  const auto first = Take("m", "kepler-model retrain");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = Take();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(second.error().message, HasSubstr(fmt::format("kepler-model retrain (process {})", getpid())));
  EXPECT_TRUE(Take("another"));
}

TEST_F(StoreLockTest, TheEndOfTheHolderReleasesIt) {
  {
    ASSERT_TRUE(Take());
  }
  EXPECT_TRUE(Take());
}

TEST_F(StoreLockTest, AHolderThatIsKilledReleasesIt) {
  int pipes[2] = {};
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = Take("m", "the child");
    const char has = held ? 'y' : 'n';
    if (write(pipes[1], &has, 1) == 1) pause();
    _exit(1);
  }
  char has = 0;
  ASSERT_EQ(read(pipes[0], &has, 1), 1);
  EXPECT_EQ(has, 'y');
  const auto refused = Take();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipes[0]);
  close(pipes[1]);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("the child (process {})", child)));
  EXPECT_TRUE(Take());
}

TEST_F(StoreLockTest, WhatIsNoFileIsAnError) {
  store.Symlink(".locks/m", "/dev/null");
  EXPECT_FALSE(Take());
  store.MakeDir(".locks/d");
  EXPECT_FALSE(Take("d"));
  store.Write(".locks/long", std::string(5000, 'x'));
  const auto held = Take("long", "short");
  ASSERT_TRUE(held);
  EXPECT_THAT(Take("long").error().message, HasSubstr("short (process"));
}

TEST_F(StoreLockTest, AStoreThatCannotBeWrittenIsAnError) {
  store.Write(".locks", "a file in the way");
  EXPECT_FALSE(Take());
}

}  // namespace
}  // namespace kepler::modelserver
