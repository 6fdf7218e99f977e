#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "lab/recorder/this_machine.h"

namespace kepler::lab::recorder {
namespace {

/// Runs `script` in place of stress-ng, to its end.
class StressTest : public ::testing::Test {
 protected:
  Stress Ended(const std::string& script) {
    // Tests run at the same time: each has a separate file.
    const std::string program =
        ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    auto stress = Stress::Start(program, "cpu", 1, 1);
    EXPECT_TRUE(stress) << stress.error().message;
    while (stress->IsRunning()) std::this_thread::yield();
    return *std::move(stress);
  }
};

TEST_F(StressTest, LeaderThatEnded_KeepsItsGroupUntilTheEnd) {
  siginfo_t child{};
  {
    const Stress stress = Ended("exit 3\n");
    EXPECT_EQ(stress.Ending(), "exit code 3");
    EXPECT_EQ(::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT), 0) << "its number could be another's by now";
    EXPECT_NE(child.si_pid, 0);
  }
  EXPECT_EQ(::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT), -1) << "it is reaped";
}

TEST_F(StressTest, AlarmThatIsIgnoredHere_EndsIt) {
  auto* const before = ::signal(SIGALRM, SIG_IGN);
  EXPECT_EQ(Ended("kill -ALRM $$\nexit 0\n").Ending(), "signal 14");
  ::signal(SIGALRM, before);
}

}  // namespace
}  // namespace kepler::lab::recorder
