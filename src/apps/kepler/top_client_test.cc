#include "apps/kepler/top_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "testing/scripted_peer.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptedPeer;
using ::testing::StartsWith;

/// Answers with `status` and `body`, and keeps the first lines of the requests.
class TestAgent {
 public:
  /// `status` may have lines of the head behind it.
  TestAgent(std::string status, std::string body)
      : peer_([this, status = std::move(status), body = std::move(body)](const std::string& head, const auto& send,
                                                                         const auto&) {
          {
            const std::scoped_lock lock(mutex_);
            heads_.push_back(head);
          }
          send(fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body));
        }) {}

  [[nodiscard]] TopSettings Settings(const std::string& path = "") const {
    return {.url = fmt::format("http://127.0.0.1:{}{}", peer_.port(), path)};
  }
  [[nodiscard]] std::vector<std::string> Targets() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> targets;
    targets.reserve(heads_.size());
    for (const std::string& head : heads_) targets.push_back(head.substr(0, head.find(" HTTP")));
    return targets;
  }
  [[nodiscard]] std::string LastHead() const {
    const std::scoped_lock lock(mutex_);
    return heads_.back();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  ScriptedPeer peer_;
};

Result<TopAnswer> NextAnswer(TopPoller& poller) {
  while (true) {
    if (auto answer = poller.Take()) return *std::move(answer);
    pollfd fd{.fd = poller.fd(), .events = POLLIN, .revents = 0};
    poll(&fd, 1, -1);
  }
}

TEST(TopClient, PutsThePathOfTheUrlInFront) {
  const TestAgent agent("200 OK", "x");
  const auto client = TopClient::Open(agent.Settings("/proxy/"));
  ASSERT_TRUE(client);
  EXPECT_EQ(client->Get("/api/v1/snapshot?a=b", {}), "x");
  EXPECT_THAT(agent.Targets(), ElementsAre("GET /proxy/api/v1/snapshot?a=b"));
}

TEST(TopClient, SendsTheLoginToThisMachine) {
  const std::string path = ::testing::TempDir() + "/top_client_password";
  std::ofstream(path) << "secret\n";
  const TestAgent agent("200 OK", "");
  TopSettings settings = agent.Settings();
  settings.user = "alice";
  settings.password_file = path;
  const auto client = TopClient::Open(settings);
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->Get("/", {}));
  EXPECT_THAT(agent.LastHead(), HasSubstr("Authorization: Basic YWxpY2U6c2VjcmV0\r\n"));
  settings.url = "http://192.0.2.1:1";
  const auto refused = TopClient::Open(settings)->Get("/", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid) << "before a connection is opened";
  settings.password_file = "/nowhere/password";
  EXPECT_FALSE(TopClient::Open(settings));
}

TEST(TopClient, NamesTheRemedyOfAStatus) {
  for (const auto& [status, body, reason] :
       {std::tuple("401 Unauthorized", "", "401: set --user and --password-file"),
        std::tuple("404 Not Found", "", "404: there is no JSON API"),
        std::tuple("302 Found\r\nLocation: http://node/login", "", "302: redirects to http://node/login; set --url"),
        std::tuple("500 Internal Server Error", "", "500: the answer has no reason"),
        std::tuple("400 Bad Request", R"({"error":"limit"})", "400: limit"),
        std::tuple("400 Bad Request", " {\"reason\":1}\n", R"(400: {"reason":1})")}) {
    const TestAgent agent(status, body);
    const auto answer = TopClient::Open(agent.Settings())->Get("/", {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(answer.error().message, HasSubstr(reason));
  }
}

TEST(TopClient, PathOfTheUrl_IsInTheError) {
  const TestAgent agent("404 Not Found", "");
  const std::string url = agent.Settings("/foo/").url;
  EXPECT_THAT(TopClient::Open({.url = url})->Get("/api", {}).error().message,
              StartsWith(url.substr(0, url.size() - 1) + ": 404: "));
}

TEST(TopClient, AnswerOfAnotherProgram_ErrorNamesTheUrl) {
  const TestAgent agent("200 OK", "<html>");
  const auto client = TopClient::Open(agent.Settings("/foo"));
  EXPECT_EQ(ReadingsOf(*client, *client->Get("/api", {})).error().message,
            agent.Settings("/foo").url + ": HTML, not JSON; check the file or URL");
}

/// The reason of a refused connection fits into a line of 80 columns; a remedy after it would not.
TEST(TopClient, NoAnswer_RemedyIsApart) {
  const auto client = TopClient::Open({.url = "http://127.0.0.1:1"});
  ASSERT_TRUE(client);
  const auto answer = client->Get("/", {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(answer.error().message, "connect to http://127.0.0.1:1: Connection refused");
  EXPECT_THAT(client->Hint(), HasSubstr("is the agent running? --url sets its address"));
}

TEST(RemarksOf, SimulatedPower_AfterThoseOfTheSource) {
  struct Source final : TopSource {
    Result<std::string> Get(const std::string&, const std::stop_token&) const override { return ""; }
    std::string_view Hint() const override { return ""; }
    std::vector<std::string> Remarks() const override { return {"no agent"}; }
  };
  const auto remarks = [](const std::string& text) { return RemarksOf(Source(), top::ReadReadings(text).value()); };
  EXPECT_THAT(remarks(R"({"api":1,"zones":[{"zone":"a","source":"rapl"},{"zone":"b","source":"model"}]})"),
              ElementsAre("no agent"));
  EXPECT_THAT(remarks(R"({"api":1,"zones":[{"zone":"a","source":"rapl"},{"zone":"b","source":"fake"}]})"),
              ElementsAre("no agent", HasSubstr("power is simulated")));
  EXPECT_THAT(remarks(R"({"api":1,"zones":[{"zone":"a","source":"model"},{"zone":"b","source":"model"}]})"),
              ElementsAre("no agent", "power is an estimate: no energy meter is in use"));
  EXPECT_THAT(remarks(R"({"api":1})"), ElementsAre("no agent"));
}

TEST(TopPoller, AsksForWhatTheScreenShows) {
  const TestAgent agent("200 OK",
                        R"({"api":1,"time":"t","step_seconds":5,"zones":["package"],"points":[],"workloads":{}})");
  auto client = TopClient::Open(agent.Settings());
  ASSERT_TRUE(client);
  // So long that only another target leads to another request.
  const auto poller = TopPoller::Start(std::make_unique<TopClient>(*std::move(client)), std::chrono::hours(1));
  ASSERT_TRUE(poller);
  (*poller)->Ask("/a", 24);
  (*poller)->Ask("/a", 24);
  const auto first = NextAnswer(**poller);
  EXPECT_FALSE(first) << "zones are objects in a snapshot";
  EXPECT_FALSE((*poller)->Take()) << "each answer once";
  (*poller)->Ask("/b", 24);
  EXPECT_FALSE(NextAnswer(**poller));
  EXPECT_THAT(agent.Targets(), ElementsAre("GET /a", "GET /b"));
}

TEST(TopPoller, ReadsTheHistoryOncePerTick) {
  const TestAgent agent("200 OK", R"({"api":1,"time":"t","interval_seconds":5,"zones":[],"points":[],"workloads":{}})");
  auto client = TopClient::Open(agent.Settings());
  ASSERT_TRUE(client);
  const auto poller = TopPoller::Start(std::make_unique<TopClient>(*std::move(client)), std::chrono::hours(1));
  ASSERT_TRUE(poller);
  (*poller)->Ask("/a", 24);
  const auto first = NextAnswer(**poller);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->history);
  (*poller)->Ask("/b", 24);
  const auto second = NextAnswer(**poller);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->history) << "the same tick";
  EXPECT_THAT(agent.Targets(), ElementsAre("GET /a", "GET /api/v1/history?seconds=120", "GET /b"));
}

TEST(TopPoller, EndsWhileTheAgentHangs) {
  std::atomic<bool> asked = false;
  const ScriptedPeer peer([&](const std::string&, const auto&, const std::stop_token& stop) {
    asked = true;
    asked.notify_one();
    testing::WaitFor(stop);
  });
  auto client = TopClient::Open({.url = fmt::format("http://127.0.0.1:{}", peer.port())});
  ASSERT_TRUE(client);
  auto poller = TopPoller::Start(std::make_unique<TopClient>(*std::move(client)), std::chrono::hours(1));
  ASSERT_TRUE(poller);
  (*poller)->Ask("/a", 24);
  asked.wait(false);
  const auto begin = std::chrono::steady_clock::now();
  poller->reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4))
      << "less than the deadline of the request";
}

}  // namespace
}  // namespace kepler::agent
