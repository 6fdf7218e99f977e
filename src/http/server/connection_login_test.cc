// Logins that have to wait for their hash, and what happens meanwhile.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/thread.h"
#include "http/server/acceptor.h"
#include "http/server/connection.h"
#include "http/server/listen_address.h"
#include "http/server/scripted_hashes.h"
#include "http/server/server_core.h"
#include "http/server/test_client.h"
#include "testing/fake_tree.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::ScriptedHashes;
using testing::TestClient;

const std::string kAlicesLine = "  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
const std::string kBobsLine = "  bob: $2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa\n";
constexpr const char* kRight = "Authorization: Basic YWxpY2U6cmlnaHQ=\r\n";  // alice:right
constexpr const char* kWrong = "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n";  // alice:wrong

/// A server whose hashes end when the test says.
class ConnectionLoginTest : public ::testing::Test {
 protected:
  void Start(const Limits& limits, const std::string& users = kAlicesLine) {
    Write(users);
    core_.emplace(loop_, limits, webconfig::WebSettings::Create(tree_.Path("web.yml"), limits.web_check_time).value(),
                  hashes_.Function());
    core_->routes.Add({.path = "/hello"}, [](const Request&, const Responder& answer) { answer({}); });
    acceptor_.emplace(*core_, Socket::Create(*loop_, Listen("127.0.0.1:0").value()).value());
    loop_->Post([this] { acceptor_->Accept(); });
    thread_ = StartThread("http", [loop = loop_](const std::stop_token&) { loop->Run(); }).value();
  }
  ~ConnectionLoginTest() override {
    hashes_.EndAll();
    loop_->Post([this] {
      acceptor_->Close();
      const auto connections = core_->connections;  // closing changes the table
      for (const auto& [key, connection] : connections) connection->Close();
      loop_->Post([this] { loop_->Stop(); });
    });
    thread_.join();
  }
  void Write(const std::string& users) { tree_.Write("web.yml", "basic_auth_users:\n" + users); }
  TestClient Connect() { return TestClient(acceptor_->address()); }
  /// Waits until this number of requests has been parsed.
  void WaitForRequests(uint64_t count) const {
    while (core_->status().requests < count) std::this_thread::yield();
  }
  /// The status of alice's right login, during whose hash the file is rewritten.
  unsigned LoginWhileUsersBecome(const std::string& users) {
    Start({.web_check_time = 0ms}, kAlicesLine + kBobsLine);
    auto alice = Connect(), other = Connect();
    alice.SendGet("/hello", kRight);
    hashes_.WaitFor(1);
    Write(users);
    for (int check = 0; check < 2; ++check) EXPECT_EQ(other.Get("/hello").status, 401u);
    hashes_.EndAll();
    return alice.Read().status;
  }

  kepler::testing::FakeTree tree_;
  ScriptedHashes hashes_;
  std::shared_ptr<EventLoop> loop_ = std::make_shared<EventLoop>();
  std::optional<ServerCore> core_;
  std::optional<Acceptor> acceptor_;
  std::jthread thread_;
};

TEST_F(ConnectionLoginTest, UserRemovedDuringItsLogin_IsNotServed) {
  EXPECT_EQ(LoginWhileUsersBecome(kBobsLine), 401u);
  EXPECT_EQ(core_->status().requests_denied.password, 1u);
}

TEST_F(ConnectionLoginTest, UserWithAnotherPasswordMeanwhile_IsNotServed) {
  EXPECT_EQ(LoginWhileUsersBecome("  alice: $2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa\n"), 401u);
}

TEST_F(ConnectionLoginTest, ChangeOfOthersDuringALogin_DoesNotMatter) {
  EXPECT_EQ(LoginWhileUsersBecome(kAlicesLine), 200u);
}

TEST_F(ConnectionLoginTest, HashThatTakesTooLong_Is503AndTheNextRequestFindsTheVerdict) {
  Start({.header_time = 200ms});
  auto client = Connect();
  const auto refused = client.Get("/hello", kRight);
  EXPECT_EQ(refused.status, 503u);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  EXPECT_EQ(core_->status().requests_denied.busy, 1u);
  EXPECT_EQ(core_->status().timeouts, 0u);
  hashes_.EndAll();
  EXPECT_EQ(client.Get("/hello", kRight).status, 200u);  // on the same connection
  EXPECT_EQ(hashes_.begun().size(), 1u);
}

TEST_F(ConnectionLoginTest, ManyLoginsThatWait_KeepNobodyOut) {
  Start({.connections = 2, .first_words_time = 0ms});
  auto slowest = Connect(), second = Connect();
  slowest.SendGet("/hello", kRight);
  WaitForRequests(1);
  second.SendGet("/hello", kRight);
  WaitForRequests(2);
  auto third = Connect();
  third.SendGet("/hello", kRight);
  EXPECT_TRUE(slowest.WaitForEnd());
  hashes_.EndAll();
  EXPECT_EQ(second.Read().status, 200u);
  EXPECT_EQ(third.Read().status, 200u);
  EXPECT_EQ(core_->status().connections_evicted, 1u);
  EXPECT_EQ(core_->status().connections_refused, 0u);
}

TEST_F(ConnectionLoginTest, LoginThatWaits_GivesWayBehindTheSilentAndBeforeTheKnown) {
  Start({.connections = 3, .first_words_time = 0ms});
  hashes_.End(1);
  auto known = Connect();
  ASSERT_EQ(known.Get("/hello", kRight).status, 200u);
  auto guesser = Connect();
  guesser.SendGet("/hello", kWrong);
  WaitForRequests(2);
  auto silent = Connect(), fourth = Connect();
  EXPECT_TRUE(silent.WaitForEnd());
  fourth.SendGet("/hello", kWrong);
  WaitForRequests(3);
  auto fifth = Connect();
  EXPECT_TRUE(guesser.WaitForEnd());
  EXPECT_EQ(known.Get("/hello", kRight).status, 200u);
}

TEST_F(ConnectionLoginTest, LoginThatWaits_GivesWayHoweverMuchItSays) {
  Start({.connections = 1, .first_words_time = 0ms});
  auto guesser = Connect();
  guesser.SendGet("/hello", kWrong);
  WaitForRequests(1);
  guesser.Send("GET");
  auto next = Connect();
  next.SendGet("/hello", kRight);
  EXPECT_TRUE(guesser.WaitForEnd());
  hashes_.EndAll();
  EXPECT_EQ(next.Read().status, 200u);
}

TEST_F(ConnectionLoginTest, NewcomersThatSayNothing_ProtectNoOldLogin) {
  Start({.connections = 2, .first_words_time = 100ms});
  auto login = Connect();
  login.SendGet("/hello", kWrong);
  WaitForRequests(1);
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  while (!login.Readable(0ms) && std::chrono::steady_clock::now() < deadline) {
    while (core_->status().connections_open > 1) std::this_thread::yield();  // of the round before
    const auto silent = Connect();
    const uint64_t total = core_->status().connections;
    const auto third = Connect();
    while (core_->status().connections == total) std::this_thread::yield();
  }
  EXPECT_TRUE(login.WaitForEnd());
}

TEST_F(ConnectionLoginTest, LoginThatBeganJustNow_KeepsItsPlace) {
  Start({.connections = 1, .first_words_time = 1h});
  auto first = Connect();
  first.SendGet("/hello", kRight);
  WaitForRequests(1);
  EXPECT_EQ(Connect().Read().status, 503u);
  hashes_.EndAll();
  EXPECT_EQ(first.Read().status, 200u);
}

}  // namespace
}  // namespace kepler::http::server
