#include "http/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <string_view>

#include "http/client/client_test_util.h"
#include "testing/no_threads.h"

namespace kepler::http::client {
namespace {

using kepler::testing::ScriptedPeer;
using kepler::testing::WaitFor;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Client, BodyOfALength_AndInChunks) {
  const ScriptedPeer plain(SaysOk("Content-Length: 5\r\n\r\nhello"));
  EXPECT_EQ(Get(PlainPeer(plain)).body, "hello");
  const ScriptedPeer chunked(SaysOk("Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"));
  const auto got = Get(PlainPeer(chunked));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.answer->status, 200u);
  EXPECT_EQ(got.body, "hello");
}

TEST(Client, SaysWhatItWants) {
  std::string seen;
  {
    const ScriptedPeer server([&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
      seen = head;
      send(std::string(kOk) + "Content-Length: 0\r\n\r\n");
    });
    ASSERT_TRUE(Get(PlainPeer(server), {.target = "/pods?a=b"}).answer);
    EXPECT_THAT(seen, HasSubstr("Host: 127.0.0.1:" + std::to_string(server.port())));
  }
  EXPECT_TRUE(seen.starts_with("GET /pods?a=b HTTP/1.1\r\n")) << seen;
  EXPECT_THAT(seen, AllOf(HasSubstr("Accept: application/json\r\n"), ::testing::Not(HasSubstr("Authorization"))));
}

TEST(Client, WhenToAskAgain_IsAsTheServerSaysIt) {
  const ScriptedPeer server(Says("HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_EQ(Get(PlainPeer(server)).answer->retry_after, "120");
}

TEST(Client, PiecesComeWhileTheAnswerGoesOn) {
  std::stop_source stop;
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& end) {
    send(std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    WaitFor(end);
  });
  std::string body;
  const auto answer = Client().Send(
      PlainPeer(server), {.target = "/watch"},
      [&](std::string_view piece) -> Status {
        body += piece;
        if (!piece.empty()) stop.request_stop();
        return {};
      },
      stop.get_token());
  EXPECT_EQ(body, "one");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("stopped"));
}

TEST(Client, OtherStatus_GivesTheBeginOfItsBody) {
  const ScriptedPeer server(Says("HTTP/1.1 403 Forbidden\r\nContent-Length: 9000\r\n\r\n" + std::string(9000, 'x')));
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 403u);
  EXPECT_EQ(got.answer->body, std::string(kMaxRefusal, 'x'));
  EXPECT_EQ(got.body, "");
}

TEST(HideLogin, TokenAndPassword_AreReplacedWhereverTheyAre) {
  EXPECT_EQ(HideLogin("t0k: Bearer t0kt0k", {.target = "/", .bearer_token = "t0k"}), "<token>: Bearer <token><token>");
  const ClientRequest login{.target = "/", .user = "me", .password = "s3cret"};
  EXPECT_EQ(HideLogin("me, s3cret, Basic bWU6czNjcmV0", login), "me, <password>, Basic <password>");
  EXPECT_EQ(HideLogin("me s3cret", {}), "me s3cret");
  EXPECT_EQ(HideLogin("", login), "");
}

TEST(Client, Redirection_IsReportedAndNotFollowed) {
  const ScriptedPeer server(Says("HTTP/1.1 302 Found\r\nLocation: http://elsewhere/x\r\nContent-Length: 0\r\n\r\n"));
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 302u);
  EXPECT_EQ(got.answer->location, "http://elsewhere/x");
  EXPECT_EQ(server.calls(), 1u);
}

TEST(Client, TooLarge_SaysWhatWithoutItsQuery) {
  const ScriptedPeer server(SaysOk("Content-Length: 5\r\n\r\nhello"));
  const auto got = Get(PlainPeer(server), {.target = "/pods?key=s3cret", .max_bytes = 4});
  ASSERT_FALSE(got.answer);
  EXPECT_THAT(got.answer.error().message,
              AllOf(HasSubstr("/pods has more than 4"), ::testing::Not(HasSubstr("s3cret"))));
}

TEST(Client, WhoeverTakesMayEndIt) {
  const ScriptedPeer server(SaysOk("Content-Length: 5\r\n\r\nhello"));
  const auto answer = Client().Send(PlainPeer(server), {.target = "/"},
                                    [](std::string_view) { return Fail(ErrorKind::kMalformed, "no pods"); }, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "no pods");
}

TEST(Client, NobodyThere_SaysWhere) {
  uint16_t port = 0;
  {
    const ScriptedPeer gone(Says(""));
    port = gone.port();
  }
  const auto got = Get({.tls = false, .host = "127.0.0.1", .port = port});
  ASSERT_FALSE(got.answer);
  EXPECT_THAT(got.answer.error().message, AllOf(HasSubstr("connect to http://127.0.0.1:"), HasSubstr("refused")));
}

TEST(Client, HeadOfA200_IsAnEmptyPiece) {
  std::stop_source stop;
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& end) {
    send(std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\n");
    WaitFor(end);
  });
  int pieces = 0;
  const auto take = [&](std::string_view piece) -> Status {
    EXPECT_EQ(piece, "");
    ++pieces;
    stop.request_stop();
    return {};
  };
  EXPECT_FALSE(Client().Send(PlainPeer(server), {.target = "/watch"}, take, stop.get_token()));
  EXPECT_EQ(pieces, 1);
  const ScriptedPeer refuses(Says("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_TRUE(Client().Send(PlainPeer(refuses), {.target = "/watch"}, take, {}));
  EXPECT_EQ(pieces, 1);
}

// Each of many may ask at once, at a limit of tasks.
TEST(Client, MakesNoThread) {
  const kepler::testing::NoThreads none;
  const auto got = Get({.tls = false, .host = "localhost", .port = 1});
  ASSERT_FALSE(got.answer);
  EXPECT_THAT(got.answer.error().message, HasSubstr("connect to http://localhost:1: "));
}

TEST(PeerUrl, BracketsIpv6) {
  EXPECT_EQ((Peer{.host = "fe80::1", .port = 10250}.Url()), "https://[fe80::1]:10250");
  EXPECT_EQ((Peer{.tls = false, .host = "a.b", .port = 80}.Url()), "http://a.b:80");
}

}  // namespace
}  // namespace kepler::http::client
