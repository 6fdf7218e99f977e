#include "apps/kepler/gated_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "testing/fake_tree.h"

namespace kepler::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;

/// Waits for the end.
int ExitCodeOf(GatedCommand& command) {
  const auto ended = command.WaitFor(kLong);
  EXPECT_TRUE(ended.has_value() && *ended);
  return command.exit_code();
}

int RunToEnd(const std::vector<std::string>& argv) {
  auto command = GatedCommand::Start(argv);
  EXPECT_TRUE(command && command->LetGo());
  return ExitCodeOf(*command);
}

TEST(GatedCommand, ExitCodeIsAsInAShell) {
  EXPECT_EQ(RunToEnd({"true"}), 0);
  EXPECT_EQ(RunToEnd({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(RunToEnd({"sh", "-c", "kill -9 $$"}), 137);
}

TEST(GatedCommand, CpuTimeHasThatOfItsChildren) {
  auto command = GatedCommand::Start({"sh", "-c", "(i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done); true"});
  ASSERT_TRUE(command && command->LetGo());
  EXPECT_EQ(ExitCodeOf(*command), 0);
  EXPECT_GT(command->cpu_time(), 1ms);
}

TEST(GatedCommand, DoesNothingBeforeItIsLetGo) {
  const testing::FakeTree tree;
  auto command = GatedCommand::Start({"touch", tree.Path("mark")});
  ASSERT_TRUE(command);
  EXPECT_FALSE(*command->WaitFor(50ms));
  EXPECT_NE(::access(tree.Path("mark").c_str(), F_OK), 0);
  ASSERT_TRUE(command->LetGo());
  EXPECT_EQ(ExitCodeOf(*command), 0);
  EXPECT_EQ(::access(tree.Path("mark").c_str(), F_OK), 0);
}

TEST(GatedCommand, NeverLetGo_IsKilled) {
  pid_t pid = 0;
  {
    const auto command = GatedCommand::Start({"sleep", "1000"});
    ASSERT_TRUE(command);
    pid = command->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(GatedCommand, CannotBeExecuted_SaysWhy) {
  testing::FakeTree tree;
  tree.Write("text", "x");
  tree.Chmod("text", 0644);
  for (const auto& [program, kind] :
       {std::pair(tree.Path("missing"), ErrorKind::kNotFound), std::pair(tree.Path("text"), ErrorKind::kPermission)}) {
    auto command = GatedCommand::Start({program});
    ASSERT_TRUE(command);
    const Status let = command->LetGo();
    ASSERT_FALSE(let);
    EXPECT_EQ(let.error().kind, kind);
    EXPECT_TRUE(let.error().message.starts_with("execute " + program)) << let.error().message;
  }
}

TEST(GatedCommand, PassesSigtermOn_AndSurvivesSigint) {
  auto command = GatedCommand::Start({"sleep", "1000"});
  ASSERT_TRUE(command && command->LetGo());
  ::kill(::getpid(), SIGINT);  // as from a terminal, which sends it to the command too
  EXPECT_FALSE(*command->WaitFor(0ms));
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(ExitCodeOf(*command), 128 + SIGTERM);
}

}  // namespace
}  // namespace kepler::agent
