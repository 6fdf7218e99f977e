#include "os/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/unique_fd.h"
#include "testing/fake_tree.h"

namespace kepler::os {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// The manager's end: a datagram socket of that name, "@name" in the abstract namespace.
class Manager {
 public:
  explicit Manager(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  }
  /// The next message; "" without one.
  std::string Heard() {
    std::array<char, 256> text{};
    const ssize_t n = ::recv(fd_.get(), text.data(), text.size(), 0);
    return n > 0 ? std::string(text.data(), static_cast<size_t>(n)) : "";
  }

 private:
  UniqueFd fd_;
};

TEST(ServiceManager, SocketWithAPath_HearsWhatIsSaid) {
  const kepler::testing::FakeTree tree;
  Manager manager(tree.Path("notify"));
  const ServiceManager service(tree.Path("notify"), std::nullopt);
  EXPECT_TRUE(service.Notify("READY=1"));
  EXPECT_TRUE(service.Notify("WATCHDOG=1"));
  EXPECT_EQ(manager.Heard(), "READY=1");
  EXPECT_EQ(manager.Heard(), "WATCHDOG=1");
}

TEST(ServiceManager, AbstractSocket_HearsWhatIsSaid) {
  const std::string name = "@kepler-test-" + std::to_string(::getpid());
  Manager manager(name);
  EXPECT_TRUE(ServiceManager(name, std::nullopt).Notify("READY=1"));
  EXPECT_EQ(manager.Heard(), "READY=1");
}

TEST(ServiceManager, NoManager_IsNoError) { EXPECT_TRUE(ServiceManager("", std::nullopt).Notify("READY=1")); }

TEST(ServiceManager, SocketThatIsNone_IsAnErrorThatNamesIt) {
  for (const std::string& socket : {std::string("/nonexistent/notify"), std::string("vsock:2:1"),
                                    "/" + std::string(200, 'x'), std::string("@kepler-nobody-listens-here")}) {
    const auto said = ServiceManager(socket, std::nullopt).Notify("READY=1");
    ASSERT_FALSE(said) << socket;
    EXPECT_THAT(said.error().message, HasSubstr(socket));
  }
}

TEST(ServiceManager, ManagerThatReadsNothing_IsNotWaitedFor) {
  const std::string name = "@kepler-deaf-" + std::to_string(::getpid());
  const Manager manager(name);
  const ServiceManager service(name, std::nullopt);
  Status said;
  for (int i = 0; i < 100'000 && said; ++i) said = service.Notify("WATCHDOG=1");
  EXPECT_FALSE(said);
}

/// Variables of the environment, until the end of the scope.
class Environment {
 public:
  Environment(const char* usec, const char* pid) {
    ::setenv("NOTIFY_SOCKET", "/run/notify", 1);
    ::setenv("WATCHDOG_USEC", usec, 1);
    if (pid != nullptr) ::setenv("WATCHDOG_PID", pid, 1);
  }
  ~Environment() {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

TEST(ServiceManager, Environment_SaysWhetherItWatches) {
  const std::string mine = std::to_string(::getpid());
  const auto watchdog = [](const char* usec, const char* pid) {
    const Environment environment(usec, pid);
    return ServiceManager::FromEnvironment().watchdog();
  };
  EXPECT_EQ(watchdog("60000000", mine.c_str()), Nanoseconds(60s));
  EXPECT_EQ(watchdog("500000", nullptr), Nanoseconds(500ms));
  EXPECT_EQ(watchdog("60000000", "1"), std::nullopt);
  for (const char* bad : {"", "0", "-1", "soon", "99999999999999999999"})
    EXPECT_EQ(watchdog(bad, nullptr), std::nullopt);
  EXPECT_EQ(ServiceManager::FromEnvironment().watchdog(), std::nullopt);
}

}  // namespace
}  // namespace kepler::os
