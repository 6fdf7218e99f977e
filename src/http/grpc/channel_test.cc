// Calls that a server answers.
#include "http/grpc/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "http/grpc/grpc_test_util.h"

namespace kepler::http::grpc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
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

}  // namespace
}  // namespace kepler::http::grpc
