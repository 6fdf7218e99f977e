#include "http/retrying/retrying_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "testing/certificates.h"
#include "testing/scripted_peer.h"

namespace kepler::http::retrying {
namespace {

using namespace std::chrono_literals;
using kepler::testing::ScriptedPeer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What Ask() does with servers that answer so, one after the other; the last one stays.
struct Asked {
  Status status;
  std::string body;
  std::vector<std::chrono::milliseconds> waits;
  std::vector<std::string> said;
};

Asked AskThose(const std::vector<std::string>& heads, int retries = 4) {
  std::atomic<size_t> next = 0;
  const ScriptedPeer peer([&](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    send("HTTP/1.1 " + heads[std::min(next++, heads.size() - 1)] + "\r\nContent-Length: 4\r\n\r\nbody");
  });
  Asked asked;
  Server server;
  server.peer = {.tls = false, .host = "127.0.0.1", .port = peer.port()};
  server.retries = retries;
  server.wait = [&](std::chrono::milliseconds time) { asked.waits.push_back(time); };
  server.say = [&](std::string_view line) { asked.said.emplace_back(line); };
  asked.status = Ask(
      server, "/x", [&] { asked.body.clear(); },
      [&](std::string_view piece) -> Status {
        asked.body += piece;
        return {};
      });
  EXPECT_EQ(server.retried, asked.waits.size());
  return asked;
}

TEST(Ask, ServerThatIsBusy_IsAskedAgainEachTimeLater) {
  const Asked asked = AskThose({"500 x", "502 x", "429 x", "503 x", "200 OK"});
  EXPECT_TRUE(asked.status);
  EXPECT_EQ(asked.body, "body");
  EXPECT_THAT(asked.waits, ElementsAre(500ms, 1s, 2s, 4s));
}

TEST(Ask, RequestsAndRetries_ShareAConnection) {
  const ScriptedPeer peer([&](kepler::testing::PeerConnection& client, const std::stop_token&) {
    for (const char* status : {"503 x", "200 OK", "200 OK"})
      if (client.ReadHead()) client.Send(std::string("HTTP/1.1 ") + status + "\r\nContent-Length: 0\r\n\r\n");
  });
  Server server;
  server.peer = {.tls = false, .host = "127.0.0.1", .port = peer.port()};
  server.wait = [](std::chrono::milliseconds) {};
  const auto ignore = [](std::string_view) { return Status(); };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Ask(server, "/x", [] {}, ignore));
  EXPECT_EQ(peer.calls(), 3u);
  EXPECT_EQ(peer.connections(), 1u);
}

TEST(Ask, ServerThatSaysWhen_IsAskedThen) {
  EXPECT_THAT(AskThose({"503 x\r\nRetry-After: 7", "429 x\r\nRetry-After: 0", "200 OK"}).waits, ElementsAre(7s, 1s));
  EXPECT_THAT(AskThose({"429 x\r\nRetry-After: 86400", "200 OK"}).waits, ElementsAre(60s));
  EXPECT_THAT(AskThose({"429 x\r\nRetry-After: Fri, 01 Jan 2100 00:00:00 GMT", "200 OK"}).waits, ElementsAre(60s));
  EXPECT_THAT(AskThose({"429 x\r\nRetry-After: soon", "200 OK"}).waits, ElementsAre(500ms));
  EXPECT_THAT(AskThose({"500 x\r\nRetry-After: 7", "200 OK"}).waits, ElementsAre(500ms));
}

TEST(Ask, Waiting_IsSaidWithItsReasonAndLength) {
  const Asked asked = AskThose({"429 x\r\nRetry-After: 60", "500 x", "200 OK"});
  EXPECT_THAT(asked.said, ElementsAre(HasSubstr(" answered 429; retrying in 60 s (1 of 4)"),
                                      HasSubstr(" answered 500; retrying in 1 s (2 of 4)")));
  EXPECT_THAT(AskThose({"200 OK"}).said, IsEmpty());
}

TEST(Ask, Refusal_IsNotAskedAgain) {
  for (const auto& [head, reason] : std::vector<std::pair<const char*, const char*>>{
           {"400 x", ": body"},
           {"401 x", ": body"},
           {"404 x", ": body"},
           {"302 x\r\nLocation: /y", ": the server redirects to /y; redirections are not followed, set that URL"}}) {
    const Asked asked = AskThose({head});
    ASSERT_FALSE(asked.status) << head;
    EXPECT_EQ(asked.status.error().kind,
              std::string_view(head).starts_with("404") ? ErrorKind::kNotFound : ErrorKind::kInvalid);
    EXPECT_THAT(asked.status.error().message, HasSubstr(reason));
    EXPECT_THAT(asked.waits, IsEmpty());
  }
}

TEST(Ask, TokenThatTheServerRepeats_IsNotInTheError) {
  const auto authority = kepler::testing::MakeAuthority("recorder");
  const auto leaf = kepler::testing::MakeLeaf(authority, "server", "IP:127.0.0.1");
  const ScriptedPeer peer(
      [](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
        send("HTTP/1.1 401 x\r\nContent-Length: 10\r\n\r\nt0k is bad");
      },
      {leaf.cert, leaf.key});
  Server server;
  server.peer = {.host = "127.0.0.1", .port = peer.port(), .ca = authority.cert};
  server.bearer_token = "t0k";
  const Status asked = Ask(server, "/x", [] {}, [](std::string_view) { return Status(); });
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message, HasSubstr("answered 401: <token> is bad"));
}

TEST(Ask, ServerThatStaysBusy_IsGivenUp) {
  const Asked asked = AskThose({"503 x"}, 2);
  ASSERT_FALSE(asked.status);
  EXPECT_THAT(asked.status.error().message, HasSubstr("answered 503"));
  EXPECT_THAT(asked.waits, ElementsAre(500ms, 1s));
}

TEST(Ask, FinalAnswer_IsNotAskedAgain) {
  const ScriptedPeer peer([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    send("HTTP/1.1 503 x\r\nContent-Length: 15\r\n\r\nquery timed out");
  });
  Server server{.peer = {.tls = false, .host = "127.0.0.1", .port = peer.port()}};
  server.wait = [](std::chrono::milliseconds) { ADD_FAILURE() << "a retry"; };
  server.is_final = [](const Error& error) { return error.message.ends_with("query timed out"); };
  EXPECT_FALSE(Ask(server, "/x", [] {}, [](std::string_view) { return Status(); }));
  EXPECT_EQ(peer.calls(), 1u);
}

TEST(Ask, ServerThatDoesNotAnswer_IsNamedBeforeTheTimeout) {
  std::binary_semaphore was_said(0);
  const ScriptedPeer peer([&](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    was_said.acquire();
    send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  Server server{.peer = {.tls = false, .host = "127.0.0.1", .port = peer.port()}};
  server.patience = 10ms;
  std::vector<std::string> said;
  server.say = [&](std::string_view line) {
    said.emplace_back(line);
    was_said.release();
  };
  EXPECT_TRUE(Ask(server, "/x", [] {}, [](std::string_view) { return Status(); }));
  EXPECT_THAT(said, ElementsAre(HasSubstr(" has not answered for 0.01 s; waiting for at most 60 s")));
}

TEST(ServerAt, IsAUrlWithAPrefix) {
  const auto server = ServerAt("https://host:9090/prefix/");
  ASSERT_TRUE(server);
  EXPECT_EQ(server->prefix, "/prefix");
  EXPECT_EQ(server->peer.Url(), "https://host:9090");
  EXPECT_FALSE(ServerAt("https://host/?a=b"));
  EXPECT_FALSE(ServerAt("ftp://host"));
}

TEST(ReasonIn, IsTheErrorOrTheFirstLine) {
  EXPECT_EQ(ReasonIn(R"({"status":"error","error":"parse error"})"), "parse error");
  EXPECT_EQ(ReasonIn("  Unauthorized \nmore"), "Unauthorized");
  EXPECT_EQ(ReasonIn(""), "it gave no reason");
  EXPECT_EQ(ReasonIn(std::string(10'000, 'x')).size(), 500u);
}

}  // namespace
}  // namespace kepler::http::retrying
