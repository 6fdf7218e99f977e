// Answers that are not simply right: interim ones, malformed ones and ones that are cut off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "http/client/client_test_util.h"

namespace kepler::http::client {
namespace {

using kepler::testing::ScriptedPeer;
using kepler::testing::WaitUntilRead;
using ::testing::HasSubstr;

TEST(Client, WantedHeader_IsKept) {
  const ScriptedPeer server(
      Says("HTTP/1.1 201 Created\r\nX-AUTH-Token: t0k\r\nX-Other: a\r\nLocation: /s/1\r\n"
           "Content-Length: 0\r\n\r\n"));
  const auto with = Get(PlainPeer(server), {.target = "/", .wanted_header = "X-Auth-Token"});
  ASSERT_TRUE(with.answer) << with.answer.error().message;
  EXPECT_EQ(with.answer->wanted, "t0k");
  EXPECT_EQ(with.answer->location, "/s/1");
  EXPECT_EQ(Get(PlainPeer(server), {.target = "/", .wanted_header = "X-Auth"}).answer->wanted, "");
  EXPECT_EQ(Get(PlainPeer(server), {.target = "/"}).answer->wanted, "");
}

TEST(Client, InterimAnswers_AreSkipped) {
  for (const std::string interim :
       {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"}) {
    const ScriptedPeer server(Says(interim + std::string(kOk) + "Content-Length: 5\r\n\r\nhello"));
    const auto got = Get(PlainPeer(server));
    ASSERT_TRUE(got.answer) << interim << got.answer.error().message;
    EXPECT_EQ(got.answer->status, 200u) << interim;
    EXPECT_EQ(got.body, "hello") << interim;
  }
}

TEST(Client, RefusalBehindAnInterimAnswer_IsTheAnswer) {
  const ScriptedPeer server([&](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    send("HTTP/1.1 100 Continue\r\n\r\n");
    WaitUntilRead(server.port(), stop);
    send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  });
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.answer->status, 403u);
  EXPECT_EQ(got.answer->body, "no");
}

TEST(Client, InterimAnswersWithoutEnd_AreAnError) {
  const ScriptedPeer flood([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    while (!stop.stop_requested() && send("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  const auto got = Get(PlainPeer(flood));
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kMalformed);
  EXPECT_THAT(got.answer.error().message, HasSubstr("more than 16 interim responses (1xx)"));
}

TEST(Client, SwitchedProtocol_IsAFinalAnswer) {
  const ScriptedPeer server(Says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"));
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.answer->status, 101u);
}

struct BadAnswer {
  std::string what;
  std::string text;
  ErrorKind kind;
};
class BadAnswers : public ::testing::TestWithParam<BadAnswer> {};

TEST_P(BadAnswers, AreErrorsThatNameTheServer) {
  const ScriptedPeer server(Says(GetParam().text));
  const auto got = Get(PlainPeer(server), {.target = "/pods", .max_bytes = 1000});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, GetParam().kind) << got.answer.error().message;
  EXPECT_THAT(got.answer.error().message, HasSubstr("http://127.0.0.1:" + std::to_string(server.port())));
}

INSTANTIATE_TEST_SUITE_P(
    Client, BadAnswers,
    ::testing::Values(BadAnswer{"nothing", "", ErrorKind::kUnavailable},
                      BadAnswer{"garbage", "SSH-2.0-OpenSSH_9.2\r\n\r\n", ErrorKind::kMalformed},
                      BadAnswer{"cut_head", "HTTP/1.1 200 OK\r\nContent-", ErrorKind::kUnavailable},
                      BadAnswer{"cut_body", std::string(kOk) + "Content-Length: 9\r\n\r\nhello",
                                ErrorKind::kUnavailable},
                      BadAnswer{"cut_chunk", std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\n9\r\nhello",
                                ErrorKind::kUnavailable},
                      BadAnswer{"bad_chunk", std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello",
                                ErrorKind::kMalformed},
                      BadAnswer{"endless_head", std::string(kOk) + "A: " + std::string(100'000, 'a') + "\r\n\r\n",
                                ErrorKind::kMalformed},
                      BadAnswer{"too_large", std::string(kOk) + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x'),
                                ErrorKind::kInvalid}),
    [](const auto& entry) { return entry.param.what; });

}  // namespace
}  // namespace kepler::http::client
