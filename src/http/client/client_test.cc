#include "http/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "testing/certificates.h"
#include "testing/no_threads.h"
#include "testing/scripted_peer.h"

namespace kepler::http {
namespace {

using namespace std::chrono_literals;
using kepler::testing::MakeAuthority;
using kepler::testing::MakeLeaf;
using kepler::testing::ScriptedPeer;
using kepler::testing::WaitFor;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\n";

/// A script that sends one text to everybody.
ScriptedPeer::Script Says(std::string text) {
  return [text = std::move(text)](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    send(text);
  };
}
ScriptedPeer::Script SaysOk(std::string rest) { return Says(std::string(kOk) + std::move(rest)); }

struct Outcome {
  Result<Refusal> answer;
  std::string body;
};

Peer PlainPeer(const ScriptedPeer& server) { return {.tls = false, .host = "127.0.0.1", .port = server.port()}; }

Outcome Get(const Peer& peer, const GetRequest& request = {.target = "/pods"}, const std::stop_token& stop = {}) {
  Outcome outcome;
  outcome.answer = Fetch(
      peer, request,
      [&](std::string_view piece) -> Status {
        outcome.body += piece;
        return {};
      },
      stop);
  return outcome;
}

TEST(Fetch, BodyOfALength_AndInChunks) {
  const ScriptedPeer plain(SaysOk("Content-Length: 5\r\n\r\nhello"));
  EXPECT_EQ(Get(PlainPeer(plain)).body, "hello");
  const ScriptedPeer chunked(SaysOk("Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"));
  const auto got = Get(PlainPeer(chunked));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.answer->status, 200u);
  EXPECT_EQ(got.body, "hello");
}

TEST(Fetch, SaysWhatItWants) {
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

TEST(Fetch, PasswordIsNotSentInTheClear) {
  const ScriptedPeer server(SaysOk("Content-Length: 0\r\n\r\n"));
  const auto got = Get(PlainPeer(server), {.target = "/", .user = "me", .password = "s3cret"});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(got.answer.error().message, AllOf(HasSubstr("password"), ::testing::Not(HasSubstr("s3cret"))));
  EXPECT_EQ(server.calls(), 0u);
}

TEST(Fetch, WhenToAskAgain_IsAsTheServerSaysIt) {
  const ScriptedPeer server(Says("HTTP/1.1 503 Busy\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_EQ(Get(PlainPeer(server)).answer->retry_after, "120");
}

TEST(Fetch, InterimAnswers_AreSkipped) {
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

TEST(Fetch, RefusalBehindAnInterimAnswer_IsTheAnswer) {
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token&) {
    send("HTTP/1.1 100 Continue\r\n\r\n");
    std::this_thread::sleep_for(20ms);  // two packets
    send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  });
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.answer->status, 403u);
  EXPECT_EQ(got.answer->body, "no");
}

TEST(Fetch, InterimAnswersWithoutEnd_AreAnError) {
  const ScriptedPeer flood([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    while (!stop.stop_requested() && send("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  const auto got = Get(PlainPeer(flood));
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kMalformed);
  EXPECT_THAT(got.answer.error().message, HasSubstr("more than 16 interim answers (1xx)"));
}

TEST(Fetch, InterimAnswers_DoNotPutTheDeadlineOff) {
  const ScriptedPeer slow([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    while (!stop.stop_requested() && send("HTTP/1.1 102 Processing\r\n\r\n")) std::this_thread::sleep_for(100ms);
  });
  const auto got = Get(PlainPeer(slow), {.target = "/pods", .silence = 300ms});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout);
}

TEST(Fetch, SwitchedProtocol_IsAFinalAnswer) {
  const ScriptedPeer server(Says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"));
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.answer->status, 101u);
}

TEST(Fetch, TokenIsNotSentInTheClear) {
  const ScriptedPeer server(SaysOk("Content-Length: 5\r\n\r\nhello"));
  const auto got = Get(PlainPeer(server), {.target = "/pods", .bearer_token = "t0k"});
  ASSERT_FALSE(got.answer);
  EXPECT_THAT(got.answer.error().message, HasSubstr("in the clear"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST(Fetch, PiecesComeWhileTheAnswerGoesOn) {
  std::stop_source stop;
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& end) {
    send(std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    WaitFor(end);
  });
  std::string body;
  const auto answer = Fetch(
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

TEST(Fetch, OtherStatus_GivesTheBeginOfItsBody) {
  const ScriptedPeer server(Says("HTTP/1.1 403 Forbidden\r\nContent-Length: 9000\r\n\r\n" + std::string(9000, 'x')));
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 403u);
  EXPECT_EQ(got.answer->body, std::string(kMaxRefusal, 'x'));
  EXPECT_EQ(got.body, "");
}

TEST(Fetch, Redirection_IsToldAndNotFollowed) {
  const ScriptedPeer server(Says("HTTP/1.1 302 Found\r\nLocation: http://elsewhere/x\r\nContent-Length: 0\r\n\r\n"));
  const auto got = Get(PlainPeer(server));
  ASSERT_TRUE(got.answer);
  EXPECT_EQ(got.answer->status, 302u);
  EXPECT_EQ(got.answer->location, "http://elsewhere/x");
  EXPECT_EQ(server.calls(), 1u);
}

TEST(Fetch, TooLarge_SaysWhatWithoutItsQuery) {
  const ScriptedPeer server(SaysOk("Content-Length: 5\r\n\r\nhello"));
  const auto got = Get(PlainPeer(server), {.target = "/pods?key=s3cret", .max_bytes = 4});
  ASSERT_FALSE(got.answer);
  EXPECT_THAT(got.answer.error().message,
              AllOf(HasSubstr("/pods has more than 4"), ::testing::Not(HasSubstr("s3cret"))));
}

TEST(Fetch, WhoeverTakesMayEndIt) {
  const ScriptedPeer server(SaysOk("Content-Length: 5\r\n\r\nhello"));
  const auto answer = Fetch(PlainPeer(server), {.target = "/"},
                            [](std::string_view) { return Fail(ErrorKind::kMalformed, "no pods"); }, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "no pods");
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
    Fetch, BadAnswers,
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

TEST(Fetch, NobodyThere_SaysWhere) {
  uint16_t port = 0;
  {
    const ScriptedPeer gone(Says(""));
    port = gone.port();
  }
  const auto got = Get({.tls = false, .host = "127.0.0.1", .port = port});
  ASSERT_FALSE(got.answer);
  EXPECT_THAT(got.answer.error().message, AllOf(HasSubstr("connect to http://127.0.0.1:"), HasSubstr("refused")));
}

TEST(Fetch, Silence_EndsIt) {
  const ScriptedPeer server(
      [](const std::string&, const ScriptedPeer::Send&, const std::stop_token& stop) { WaitFor(stop); });
  const auto got = Get(PlainPeer(server), {.target = "/pods", .silence = 50ms});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout);
}

TEST(Fetch, HeadOfA200_IsAnEmptyPiece) {
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
  EXPECT_FALSE(Fetch(PlainPeer(server), {.target = "/watch"}, take, stop.get_token()));
  EXPECT_EQ(pieces, 1);
  const ScriptedPeer refuses(Says("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_TRUE(Fetch(PlainPeer(refuses), {.target = "/watch"}, take, {}));
  EXPECT_EQ(pieces, 1);
}

TEST(Fetch, BodyMayPauseForLonger_TheHeadMayNot) {
  const ScriptedPeer server([](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    if (head.contains("/body")) send(std::string(kOk) + "Content-Length: 5\r\n\r\n");
    WaitFor(stop);
  });
  const auto head = Get(PlainPeer(server), {.target = "/head", .silence = 50ms, .body_silence = 1h});
  ASSERT_FALSE(head.answer);
  EXPECT_EQ(head.answer.error().kind, ErrorKind::kTimeout);
  const auto body = Get(PlainPeer(server), {.target = "/body", .silence = 1h, .body_silence = 50ms});
  ASSERT_FALSE(body.answer);
  EXPECT_EQ(body.answer.error().kind, ErrorKind::kTimeout);
}

TEST(Fetch, DripsOfBytes_EndWithTheWholeTime) {
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    send(std::string(kOk) + "Content-Length: 1000000000000\r\n\r\n");
    while (!stop.stop_requested() && send("x")) std::this_thread::yield();
  });
  const auto got = Get(PlainPeer(server), {.target = "/pods", .silence = 60s, .total = 100ms});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout) << got.answer.error().message;
}

TEST(Fetch, FloodOfBytes_EndsWithTheWholeTime) {
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    send(std::string(kOk) + "Content-Length: 1000000000000\r\n\r\n");
    const std::string piece(1 << 20, ' ');
    while (!stop.stop_requested() && send(piece)) {
    }
  });
  const auto nothing = [](std::string_view) { return Status(); };
  const auto got = Fetch(PlainPeer(server), {.target = "/pods", .silence = 60s, .total = 100ms}, nothing, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::kTimeout) << got.error().message;
}

TEST(Fetch, Stop_EndsAWaitAtOnce) {
  std::stop_source stop;
  const ScriptedPeer server([&](const std::string&, const ScriptedPeer::Send&, const std::stop_token& end) {
    stop.request_stop();
    WaitFor(end);
  });
  EXPECT_FALSE(Get(PlainPeer(server), {.target = "/pods", .silence = 1h}, stop.get_token()).answer);
}

class FetchTls : public ::testing::Test {
 protected:
  Peer PeerAt(const ScriptedPeer& server) const {
    return {.host = "127.0.0.1", .port = server.port(), .ca = authority_.cert};
  }
  [[nodiscard]] kepler::testing::PeerCertificate Certificate(const std::string& names) const {
    const auto leaf = MakeLeaf(authority_, "server", names);
    return {leaf.cert, leaf.key};
  }

  const kepler::testing::Certificate authority_ = MakeAuthority("cluster");
  const kepler::testing::Certificate stranger_ = MakeAuthority("stranger");
  const std::string hello_ = "Content-Length: 5\r\n\r\nhello";
};

TEST_F(FetchTls, ServerThatIsBelieved) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  const auto got = Get(PeerAt(server));
  ASSERT_TRUE(got.answer) << got.answer.error().message;
  EXPECT_EQ(got.body, "hello");
}

TEST_F(FetchTls, TokenIsSent) {
  std::string seen;
  {
    const ScriptedPeer server(
        [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
          seen = head;
          send(std::string(kOk) + hello_);
        },
        Certificate("IP:127.0.0.1"));
    ASSERT_TRUE(Get(PeerAt(server), {.target = "/", .bearer_token = "t0k"}).answer);
  }
  EXPECT_THAT(seen, HasSubstr("Authorization: Bearer t0k\r\n"));
}

TEST_F(FetchTls, PasswordIsSent) {
  std::string seen;
  {
    const ScriptedPeer server(
        [&](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token&) {
          seen = head;
          send(std::string(kOk) + "Content-Length: 0\r\n\r\n");
        },
        Certificate("IP:127.0.0.1"));
    ASSERT_TRUE(Get(PeerAt(server), {.target = "/", .user = "Aladdin", .password = "open sesame"}).answer);
  }
  EXPECT_THAT(seen, HasSubstr("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));  // RFC 7617, section 2
}

TEST_F(FetchTls, TokenAndPassword_AreRefused) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  const auto got = Get(PeerAt(server), {.target = "/", .bearer_token = "t0k", .user = "me", .password = "s3cret"});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(got.answer.error().message, HasSubstr("both a token and a password"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST_F(FetchTls, TokenThatIsNone_IsRefusedAndNotShown) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  for (const std::string token : {"t0k\r\nX: y", "t0k en", "\xef\xbb\xbft0k", "t0k\x7f"}) {
    const auto got = Get(PeerAt(server), {.target = "/", .bearer_token = token});
    ASSERT_FALSE(got.answer) << token;
    EXPECT_THAT(got.answer.error().message, AllOf(HasSubstr("no token has"), ::testing::Not(HasSubstr("t0k"))));
  }
  const std::string large(33 * 1024, 'x');
  EXPECT_THAT(Get(PeerAt(server), {.target = "/", .bearer_token = large}).answer.error().message,
              HasSubstr("the token for https://127.0.0.1:"));
  EXPECT_THAT(Get(PeerAt(server), {.target = "/", .user = "me", .password = large}).answer.error().message,
              HasSubstr("larger than 32 KiB"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST_F(FetchTls, OtherAuthority_HearsNoToken) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("IP:127.0.0.1"));
  Peer peer = PeerAt(server);
  peer.ca = stranger_.cert;
  const auto got = Get(peer, {.target = "/", .bearer_token = "secret"});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kPermission);
  EXPECT_THAT(got.answer.error().message, HasSubstr("is not believed"));
  EXPECT_EQ(server.calls(), 0u);
}

TEST_F(FetchTls, OtherName_IsNotBelieved_UnlessItIsTheOneThatIsMeant) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("DNS:node-7"));
  Peer peer = PeerAt(server);
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("IP address mismatch"));
  EXPECT_EQ(server.calls(), 0u);
  peer.server_name = "node-7";
  EXPECT_EQ(Get(peer).body, "hello");
  EXPECT_EQ(server.asked_name(), "node-7");
  peer.server_name = "node-8";
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("hostname mismatch"));
}

TEST_F(FetchTls, NoVerification_OnlyWhereItIsAskedFor) {
  const ScriptedPeer server(SaysOk(hello_), Certificate("DNS:other"));
  Peer peer = PeerAt(server);
  peer.ca = stranger_.cert;
  peer.verify = false;
  EXPECT_EQ(Get(peer).body, "hello");
}

TEST_F(FetchTls, ClientCertificate) {
  auto certificate = Certificate("IP:127.0.0.1");
  certificate.client_ca = authority_.cert;
  const ScriptedPeer server(SaysOk(hello_), certificate);
  Peer peer = PeerAt(server);
  EXPECT_FALSE(Get(peer).answer);
  const auto own = MakeLeaf(authority_, "system:node");
  peer.cert = own.cert;
  peer.key = own.key;
  EXPECT_EQ(Get(peer).body, "hello");
}

TEST_F(FetchTls, CertificatesThatAreNone_AreNamed) {
  Peer peer{.host = "127.0.0.1", .port = 1, .ca = "no PEM"};
  const auto authority = Get(peer);
  ASSERT_FALSE(authority.answer);
  EXPECT_EQ(authority.answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(authority.answer.error().message, HasSubstr("certificate authority"));
  peer.ca = authority_.cert;
  peer.cert = "no PEM";
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("client's certificate"));
  peer.cert = authority_.cert;
  peer.key = stranger_.key;
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("client's key"));
}

TEST_F(FetchTls, KeyWithAPassword_IsRefusedAndAsksNobody) {
  const Peer peer{.host = "127.0.0.1",
                  .port = 1,
                  .ca = authority_.cert,
                  .cert = authority_.cert,
                  .key = kepler::testing::EncryptedKey(authority_)};
  EXPECT_THAT(Get(peer).answer.error().message, HasSubstr("client's key"));
}

// Each of many may ask at once, at a limit of tasks.
TEST(Fetch, MakesNoThread) {
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
}  // namespace kepler::http
