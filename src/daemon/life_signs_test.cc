#include "daemon/life_signs.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::daemon {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

class LifeSignsTest : public ::testing::Test {
 protected:
  LifeSignsTest() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  /// What came since the last call.
  Words Heard() {
    Words words;
    std::array<char, 256> text{};
    for (ssize_t n = 0; (n = ::recv(fd_.get(), text.data(), text.size(), 0)) > 0;)
      words.emplace_back(text.data(), static_cast<size_t>(n));
    return words;
  }
  /// Until the manager's queue takes no more.
  void Fill() const {
    while (manager_.Notify("other")) {
    }
  }

  testing::FakeTree tree_;
  std::string path_ = tree_.Path("notify");
  UniqueFd fd_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  os::ServiceManager manager_{path_, 20s};
  testing::FakeClock clock_;
  LifeSigns signs_{manager_, clock_};
};

TEST_F(LifeSignsTest, FullQueue_ReadyIsSaidUntilItIsTaken) {
  Fill();
  for (int i = 0; i < 3; ++i) {
    signs_.Give(true);
    EXPECT_EQ(signs_.period(), LifeSigns::kRetryPeriod);
  }
  for (const std::string& word : Heard()) EXPECT_EQ(word, "other");
  signs_.Give(false);  // it serves, though there may be no tick yet
  EXPECT_EQ(Heard(), Words{"READY=1"});
  EXPECT_EQ(signs_.period(), 5s);
}

TEST_F(LifeSignsTest, Ready_IsSaidOnceThenLifeWhileTicksCome) {
  signs_.Give(true);
  signs_.Give(true);
  signs_.Give(false);
  signs_.Give(true);
  signs_.Stopping();
  EXPECT_EQ(Heard(), (Words{"READY=1", "WATCHDOG=1", "WATCHDOG=1", "STOPPING=1"}));
}

TEST_F(LifeSignsTest, ManagerThatDoesNotWatch_HearsNothingAfterReady) {
  const os::ServiceManager manager(path_, std::nullopt);
  LifeSigns signs(manager, clock_);
  signs.Give(true);
  EXPECT_EQ(signs.period(), std::nullopt);
  signs.Give(true);
  EXPECT_EQ(Heard(), Words{"READY=1"});
}

TEST_F(LifeSignsTest, NoManager_NothingIsLeftToSay) {
  const os::ServiceManager none("", std::nullopt);
  LifeSigns signs(none, clock_);
  signs.Give(true);
  EXPECT_EQ(signs.period(), std::nullopt);
}

TEST_F(LifeSignsTest, ManagerThatTakesNothing_IsLoggedOncePerTenMinutes) {
  signs_.Give(true);
  Fill();
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 100; ++i, clock_.Advance(5s)) signs_.Give(true);
  const std::string log = ::testing::internal::GetCapturedStdout();
  const size_t at = log.find("failed to notify the service manager");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(log.find("failed to notify the service manager", at + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace kepler::daemon
