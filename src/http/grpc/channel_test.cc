// Calls that a server answers.
#include "http/grpc/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "http/grpc/grpc_test_util.h"
#include "testing/certificates.h"

namespace kepler::http::grpc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

/// Keeps each call and answers it with "pong".
class ChannelTest : public ::testing::Test {
 protected:
  ScriptedPeer::Conversation Echo(std::string settings = Settings(), bool window = false) {
    return [this, settings = std::move(settings), window](PeerConnection& client, const std::stop_token&) {
      GrpcServer http2(client, settings);
      while (auto call = http2.ReadCall(window)) {
        const uint32_t stream = call->stream;
        {
          const std::scoped_lock lock(mutex_);
          calls_.push_back(*std::move(call));
        }
        http2.Send(Ok(stream, "pong"));
      }
    };
  }
  GrpcServer::Call Last() {
    const std::scoped_lock lock(mutex_);
    return calls_.empty() ? GrpcServer::Call() : calls_.back();
  }
  std::string Message(const client::Peer& peer, const client::ClientRequest& request) {
    const auto reply = channel_.Call(peer, request, {});
    if (!reply) return reply.error().message;
    return reply->message ? *reply->message : reply->message.error().message;
  }

  std::mutex mutex_;
  std::vector<GrpcServer::Call> calls_;
  Channel channel_{{}};
};

TEST_F(ChannelTest, CallIsGrpcOverHttp2) {
  const ScriptedPeer server(Echo());
  client::ClientRequest request = CallOf("ping");
  request.headers = {{"X-Team", "blue"}};
  EXPECT_EQ(Message(PlainPeer(server), request), "pong");
  const auto call = Last();
  EXPECT_EQ(call.body, Framed("ping"));
  EXPECT_THAT(call.headers,
              AllOf(Contains(Pair(":method", "POST")), Contains(Pair(":scheme", "http")),
                    Contains(Pair(":path", "/test.Service/Method")), Contains(Pair("te", "trailers")),
                    Contains(Pair(":authority", PlainPeer(server).Authority())), Contains(Pair("x-team", "blue"))));
  EXPECT_THAT(call.headers, AllOf(Contains(Pair("content-type", "application/grpc+proto")),
                                  Contains(Pair("grpc-timeout", "30000m"))));
  EXPECT_FALSE(call.headers.contains("grpc-encoding"));
}

TEST_F(ChannelTest, OneConnectionCarriesManyCalls) {
  const ScriptedPeer server(Echo());
  for (const uint32_t stream : {1U, 3U, 5U}) {
    EXPECT_EQ(Message(PlainPeer(server), CallOf("ping")), "pong");
    EXPECT_EQ(Last().stream, stream);
  }
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(ChannelTest, ConnectionThatWaitedTooLong_IsReplaced) {
  const ScriptedPeer server(Echo());
  Channel channel({.idle = Nanoseconds(-1)});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(channel.Call(PlainPeer(server), CallOf("ping"), {}));
  EXPECT_EQ(server.connections(), 2U);
}

TEST_F(ChannelTest, CompressedMessage_IsMarked) {
  const ScriptedPeer server(Echo());
  Channel channel({.gzip = true});
  EXPECT_TRUE(channel.Call(PlainPeer(server), CallOf("zip"), {}));
  EXPECT_EQ(Last().body, Framed("zip", true));
  EXPECT_THAT(Last().headers, Contains(Pair("grpc-encoding", "gzip")));
}

TEST_F(ChannelTest, EmptyMessage_IsItsPrefix) {
  const ScriptedPeer server(Echo());
  EXPECT_EQ(Message(PlainPeer(server), CallOf("")), "pong");
  EXPECT_EQ(Last().body, std::string(5, '\0'));
}

TEST_F(ChannelTest, LargeMessage_PassesThroughSmallWindows) {
  const ScriptedPeer server(Echo(Settings(Setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000)), true));
  std::string large(300'000, 'x');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i % 23);
  EXPECT_EQ(Message(PlainPeer(server), CallOf(large)), "pong");
  EXPECT_EQ(Last().body, Framed(large));
}

TEST_F(ChannelTest, FailedCall_HasCodeTextAndDelay) {
  const ScriptedPeer server(Answers({[](uint32_t stream) {
    return Trailers(stream, {{"grpc-status", "8"},
                             {"grpc-message", "queue%20full"},
                             // google.rpc.Status with RetryInfo of 2.5 s
                             {"grpc-status-details-bin",
                              "GjYKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SCgoICAIQgMq17gE"}});
  }}));
  const auto reply = channel_.Call(PlainPeer(server), CallOf("ping"), {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->code, Code::kResourceExhausted);
  EXPECT_EQ(reply->text, "queue full");
  EXPECT_EQ(reply->retry_delay, std::chrono::milliseconds(2500));
}

TEST_F(ChannelTest, AnswerThatIsNotGrpc_HasTheCodeOfItsHttpStatus) {
  const ScriptedPeer proxy(Answers({[](uint32_t stream) {
                                      return Headers(stream, {{":status", "503"}, {"content-type", "text/plain"}}) +
                                             Data(stream, "no backend", kEnd);
                                    },
                                    [](uint32_t stream) {
                                      return Headers(stream, {{":status", "200"}, {"content-type", "text/html"}}) +
                                             Data(stream, "<html>", kEnd);
                                    }}));
  const auto away = channel_.Call(PlainPeer(proxy), CallOf("ping"), {});
  ASSERT_TRUE(away);
  EXPECT_EQ(away->code, Code::kUnavailable);
  EXPECT_EQ(away->text, "HTTP 503 without gRPC: no backend");
  const auto page = channel_.Call(PlainPeer(proxy), CallOf("ping"), {});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->code, Code::kUnknown);
}

TEST_F(ChannelTest, InterimAnswers_AreSkipped) {
  const ScriptedPeer server(
      Answers({[](uint32_t stream) { return Headers(stream, {{":status", "103"}}) + Ok(stream, "pong"); }}));
  EXPECT_EQ(Message(PlainPeer(server), CallOf("ping")), "pong");
}

TEST_F(ChannelTest, MessageThatCannotBeRead_IsStillAnAnswer) {
  const ScriptedPeer server(Answers({[](uint32_t stream) {
    return Headers(stream, kHead) + Data(stream, "junk") + Headers(stream, {{"grpc-status", "0"}}, kEndHeaders | kEnd);
  }}));
  const auto reply = channel_.Call(PlainPeer(server), CallOf("ping"), {});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, Code::kOk);
  EXPECT_EQ(reply->message.error().kind, ErrorKind::kMalformed);
}

TEST_F(ChannelTest, TokenIsNotSentInTheClear) {
  const ScriptedPeer server(Echo());
  client::ClientRequest request = CallOf("ping");
  request.bearer_token = "t0k";
  const auto reply = channel_.Call(PlainPeer(server), request, {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(ChannelTest, HeadersOfGrpcItself_AreRefused) {
  for (const std::string name : {"grpc-timeout", "TE", "Upgrade", "keep-alive", "x(y)", "content-type"}) {
    client::ClientRequest request = CallOf("ping");
    request.headers = {{name, "1"}};
    const auto reply = channel_.Call({.tls = false, .host = "127.0.0.1", .port = 1}, request, {});
    ASSERT_FALSE(reply) << name;
    EXPECT_EQ(reply.error().kind, ErrorKind::kInvalid) << name;
  }
}

class ChannelTls : public ChannelTest {
 protected:
  [[nodiscard]] kepler::testing::PeerCertificate Certificate(std::string protocol = "h2") const {
    const auto leaf = MakeLeaf(authority_, "server", "IP:127.0.0.1");
    return {.cert = leaf.cert, .key = leaf.key, .protocol = std::move(protocol)};
  }
  [[nodiscard]] client::Peer PeerAt(const ScriptedPeer& server) const {
    return {.host = "127.0.0.1", .port = server.port(), .ca = authority_.cert};
  }
  const kepler::testing::Certificate authority_ = kepler::testing::MakeAuthority("cluster");
};

TEST_F(ChannelTls, TokenAndClientCertificateAreSent) {
  auto certificate = Certificate();
  certificate.client_ca = authority_.cert;
  const ScriptedPeer server(Echo(), certificate);
  client::ClientRequest request = CallOf("ping");
  request.bearer_token = "t0k";
  client::Peer peer = PeerAt(server);
  EXPECT_FALSE(channel_.Call(peer, request, {})) << "the server requires a certificate";
  const auto own = MakeLeaf(authority_, "system:node");
  peer.cert = own.cert;
  peer.key = own.key;
  EXPECT_EQ(Message(peer, request), "pong");
  EXPECT_THAT(Last().headers, AllOf(Contains(Pair("authorization", "Bearer t0k")), Contains(Pair(":scheme", "https"))));
}

TEST_F(ChannelTls, NewCertificate_NeedsANewConnection) {
  const ScriptedPeer server(Echo(), Certificate());
  client::Peer peer = PeerAt(server);
  EXPECT_EQ(Message(peer, CallOf("ping")), "pong");
  const auto own = MakeLeaf(authority_, "system:node");
  peer.cert = own.cert;
  peer.key = own.key;
  EXPECT_EQ(Message(peer, CallOf("ping")), "pong");
  EXPECT_EQ(Message(peer, CallOf("ping")), "pong");
  EXPECT_EQ(server.connections(), 2U);
}

TEST_F(ChannelTls, ServerWithoutHttp2_IsNamed) {
  for (const std::string protocol : {"", "http/1.1"}) {
    const ScriptedPeer server(Echo(), Certificate(protocol));
    EXPECT_THAT(Message(PeerAt(server), CallOf("ping")),
                HasSubstr(protocol.empty() ? "does not support HTTP/2" : "TLS"));
    EXPECT_EQ(Last().stream, 0U);
  }
}

TEST_F(ChannelTls, OtherAuthority_IsNotTrusted) {
  const ScriptedPeer server(Echo(), Certificate());
  client::Peer peer = PeerAt(server);
  peer.ca = kepler::testing::MakeAuthority("stranger").cert;
  const auto reply = channel_.Call(peer, CallOf("ping"), {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kPermission);
}

}  // namespace
}  // namespace kepler::http::grpc
