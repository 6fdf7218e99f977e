// Connections that carry several requests, and TLS sessions that are resumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "http/client/client_test_util.h"
#include "testing/certificates.h"

namespace kepler::http::client {
namespace {

using namespace std::chrono_literals;
using kepler::testing::PeerConnection;
using kepler::testing::ScriptedPeer;
using ::testing::HasSubstr;

constexpr std::string_view kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Gives every request of each connection this answer.
ScriptedPeer::Conversation Repeats(std::string answer) {
  return [answer = std::move(answer)](PeerConnection& client, const std::stop_token&) {
    while (client.ReadHead() && client.Send(answer)) {
    }
  };
}
const ScriptedPeer::Conversation kGreets = Repeats(std::string(kHello));

const ClientRequest kGet{.target = "/"};

TEST(ClientPool, RequestsShareAConnection) {
  const ScriptedPeer server(kGreets);
  Client client;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Send(client, PlainPeer(server), kGet).body, "hello");
  EXPECT_EQ(server.calls(), 3u);
  EXPECT_EQ(server.connections(), 1u);
}

TEST(ClientPool, EachPeerHasItsOwn) {
  const ScriptedPeer one(kGreets);
  const ScriptedPeer other(kGreets);
  Client client;
  for (int i = 0; i < 2; ++i)
    for (const ScriptedPeer* server : {&one, &other}) EXPECT_TRUE(Send(client, PlainPeer(*server), kGet).answer);
  EXPECT_EQ(one.connections(), 1u);
  EXPECT_EQ(other.connections(), 1u);
}

TEST(ClientPool, LimitsAreKept) {
  const ScriptedPeer server(kGreets);
  for (const PoolLimits limits : {PoolLimits{.per_peer = 0}, PoolLimits{.idle = 0ms}}) {
    Client client(limits);
    const size_t before = server.connections();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(Send(client, PlainPeer(server), kGet).answer);
    EXPECT_EQ(server.connections(), before + 2);
  }
  const ScriptedPeer other(kGreets);
  Client client({.peers = 1});
  const size_t before = server.connections();
  for (const ScriptedPeer* next : {&server, &other, &server}) EXPECT_TRUE(Send(client, PlainPeer(*next), kGet).answer);
  EXPECT_EQ(server.connections(), before + 2) << "the other peer took its place";
}

TEST(ClientPool, AnswersThatEndTheConnection_AreTheLastOnIt) {
  for (const char* answer : {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
                             "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n"}) {
    const ScriptedPeer server(Repeats(answer));
    Client client;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(Send(client, PlainPeer(server), kGet).body, "hello");
    EXPECT_EQ(server.connections(), 2u) << answer;
  }
}

TEST(ClientPool, AnswersWithoutABody_LeaveItUsable) {
  for (const unsigned status : {200U, 204U, 304U, 404U}) {
    const bool is_head = status == 200U;
    const ScriptedPeer server(Repeats("HTTP/1.1 " + std::to_string(status) + " x\r\n" +
                                      (status == 204 ? "" : "Content-Length: 5\r\n") + "\r\n" +
                                      (status == 404 ? "hello" : "")));
    Client client;
    for (int i = 0; i < 2; ++i) {
      const auto got =
          Send(client, PlainPeer(server), {.method = is_head ? Method::kHead : Method::kGet, .target = "/"});
      ASSERT_TRUE(got.answer) << got.answer.error().message;
      EXPECT_EQ(got.answer->status, status);
      EXPECT_EQ(got.body, "");
    }
    EXPECT_EQ(server.connections(), 1u) << status;
  }
}

TEST(ClientPool, ErrorsEndTheConnection) {
  const ScriptedPeer server(kGreets);
  Client client;
  const auto refuse = [](std::string_view) { return Fail(ErrorKind::kMalformed, "no"); };
  EXPECT_FALSE(client.Send(PlainPeer(server), kGet, refuse, {}));
  EXPECT_TRUE(Send(client, PlainPeer(server), kGet).answer);
  EXPECT_EQ(server.connections(), 2u);
}

/// Answers one request of each connection and closes it when the next one comes, unread by the client.
void ClosesAtTheSecond(PeerConnection& client, const std::stop_token&) {
  if (client.ReadHead()) client.Send(kHello);
  static_cast<void>(client.ReadHead());
}

TEST(ClientPool, ConnectionThatTheServerCloses_IsReplacedOnce) {
  const ScriptedPeer server(ScriptedPeer::Conversation{ClosesAtTheSecond});
  Client client;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Send(client, PlainPeer(server), kGet).body, "hello");
  EXPECT_EQ(server.connections(), 3u);
  const ClientRequest put{.method = Method::kPut, .target = "/", .body = std::make_shared<const std::string>("x")};
  EXPECT_EQ(Send(client, PlainPeer(server), put).body, "hello");
}

TEST(ClientPool, RequestThatMayHaveBeenDone_IsNotRepeated) {
  const ScriptedPeer server(ScriptedPeer::Conversation{ClosesAtTheSecond});
  Client client;
  ClientRequest post{.method = Method::kPost, .target = "/"};
  EXPECT_TRUE(Send(client, PlainPeer(server), post).answer);
  const auto again = Send(client, PlainPeer(server), post);
  ASSERT_FALSE(again.answer);
  EXPECT_EQ(again.answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(server.calls(), 2u);
  post.may_repeat = true;
  EXPECT_TRUE(Send(client, PlainPeer(server), post).answer);
  EXPECT_TRUE(Send(client, PlainPeer(server), post).answer);
  ClientRequest stream{.method = Method::kPut, .target = "/"};
  stream.body = StreamedBody{.next = [] { return Result<std::string_view>(""); }, .length = 0};
  EXPECT_FALSE(Send(client, PlainPeer(server), stream).answer) << "its body was consumed";
}

// The server closes it before the next request: nothing is sent on it, so that even a POST can go elsewhere.
TEST(ClientPool, ConnectionThatWasClosedWhileIdle_IsNotUsed) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token&) {
    if (client.ReadHead()) client.Send(kHello);
  });
  Client client;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Send(client, PlainPeer(server), {.method = Method::kPost, .target = "/"}).body, "hello");
    kepler::testing::WaitUntilClosed(server.port());
  }
  EXPECT_EQ(server.connections(), 3u);
  EXPECT_EQ(server.calls(), 3u);
}

TEST(ClientPool, StopEndsARequestOnAKeptConnection) {
  std::stop_source stop;
  const ScriptedPeer server([&](PeerConnection& client, const std::stop_token& end) {
    if (client.ReadHead()) client.Send(kHello);
    if (client.ReadHead()) stop.request_stop();
    kepler::testing::WaitFor(end);
  });
  Client client;
  EXPECT_TRUE(Send(client, PlainPeer(server), kGet).answer);
  const auto stopped = Send(client, PlainPeer(server), kGet, stop.get_token());
  ASSERT_FALSE(stopped.answer);
  EXPECT_THAT(stopped.answer.error().message, HasSubstr("stopped"));
  EXPECT_EQ(server.connections(), 1u) << "a stop is no reason to connect again";
  EXPECT_FALSE(Send(client, PlainPeer(server), kGet, stop.get_token()).answer) << "and stays one";
}

class ClientPoolTls : public ::testing::Test {
 protected:
  ClientPoolTls() {
    const auto leaf = kepler::testing::MakeLeaf(authority_, "server", "IP:127.0.0.1");
    certificate_ = {leaf.cert, leaf.key};
  }
  [[nodiscard]] Peer PeerAt(const ScriptedPeer& server) const {
    return {.host = "127.0.0.1", .port = server.port(), .ca = authority_.cert};
  }

  const kepler::testing::Certificate authority_ = kepler::testing::MakeAuthority("cluster");
  kepler::testing::PeerCertificate certificate_;
};

TEST_F(ClientPoolTls, RequestsShareAConnection) {
  const ScriptedPeer server(kGreets, certificate_);
  Client client;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(Send(client, PeerAt(server), {.target = "/", .bearer_token = "t0k"}).body, "hello");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(ClientPoolTls, BytesBehindTheAnswer_AreNotTheNextAnswer) {
  const ScriptedPeer server(
      [](PeerConnection& client, const std::stop_token&) {
        while (client.ReadHead() && client.SendTogether("HTTP/1.1 204 No Content\r\n\r\n", kHello)) {
        }
      },
      certificate_);
  Client client;
  for (int i = 0; i < 3; ++i) {
    const auto got = Send(client, PeerAt(server), kGet);
    ASSERT_TRUE(got.answer) << got.answer.error().message;
    EXPECT_EQ(got.answer->status, 204u);
  }
}

TEST_F(ClientPoolTls, NextConnectionResumesTheSession_OfTheSamePeerOnly) {
  const ScriptedPeer server(kGreets, certificate_);
  Client client({.per_peer = 0});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Send(client, PeerAt(server), kGet).body, "hello");
  EXPECT_EQ(server.connections(), 3u);
  EXPECT_EQ(server.resumed(), 2u);
  // A session would vouch for a name that was never checked.
  Peer other = PeerAt(server);
  other.server_name = "node-7";
  const auto refused = Send(client, other, kGet);
  ASSERT_FALSE(refused.answer);
  EXPECT_EQ(refused.answer.error().kind, ErrorKind::kPermission);
}

}  // namespace
}  // namespace kepler::http::client
