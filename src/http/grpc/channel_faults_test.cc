// Calls to servers that refuse, hang, break off or send wrong bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <stop_token>
#include <string>

#include "http/grpc/grpc_test_util.h"

namespace kepler::http::grpc {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Result<Reply> CallAt(const ScriptedPeer& server, std::chrono::milliseconds total = 30s, std::string message = "ping") {
  Channel channel({});
  client::ClientRequest request = CallOf(std::move(message));
  request.deadlines = {.silence = 30s, .total = total};
  return channel.Call(PlainPeer(server), request, {});
}

/// A server that answers the first call on each connection, and the second one with `answer`.
ScriptedPeer::Conversation Then(std::string answer) {
  return [answer = std::move(answer)](PeerConnection& client, const std::stop_token&) {
    GrpcServer http2(client);
    if (!http2.ReadCall()) return;
    http2.Send(Ok(1, "first"));
    if (http2.ReadCall()) http2.Send(answer);
  };
}

/// The message of two calls on one channel.
std::string SecondMessage(const ScriptedPeer& server) {
  Channel channel({});
  EXPECT_TRUE(channel.Call(PlainPeer(server), CallOf("ping"), {}));
  const auto reply = channel.Call(PlainPeer(server), CallOf("ping"), {});
  return reply ? reply->message.value_or("no message") : reply.error().message;
}

TEST(ChannelFaults, KeptConnectionThatEnds_IsReplacedOnce) {
  for (const std::string& end :
       {std::string(), GoAway(1, NGHTTP2_NO_ERROR, "max_age"), Reset(3, NGHTTP2_REFUSED_STREAM)}) {
    const ScriptedPeer server(Then(end));
    EXPECT_EQ(SecondMessage(server), "first");
    EXPECT_EQ(server.connections(), 2U);
  }
}

TEST(ChannelFaults, GoAwayWithTheAnswer_EndsTheConnectionAfterIt) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token& stop) {
    GrpcServer http2(client);
    if (http2.ReadCall()) http2.Send(GoAway(1, NGHTTP2_NO_ERROR) + Ok(1, "last"));
    kepler::testing::WaitFor(stop);
  });
  EXPECT_EQ(SecondMessage(server), "last");
  EXPECT_EQ(server.connections(), 2U);
}

TEST(ChannelFaults, NewConnectionThatIsRefused_SaysWhy) {
  struct Case {
    std::string bytes, reason;
  };
  for (const Case& c :
       {Case{GoAway(0, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings"), "too_many_pings"},
        Case{Reset(1, NGHTTP2_INTERNAL_ERROR), "the server reset the call: INTERNAL_ERROR"},
        Case{"", "the server closed the connection"}, Case{Headers(1, kHead), "the server closed the connection"}}) {
    const ScriptedPeer server([&](PeerConnection& client, const std::stop_token&) {
      GrpcServer http2(client);
      if (http2.ReadCall() && http2.AwaitAck()) http2.Send(c.bytes);
    });
    const auto reply = CallAt(server);
    ASSERT_FALSE(reply) << c.reason;
    EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
    EXPECT_THAT(reply.error().message, HasSubstr(c.reason));
    EXPECT_EQ(server.connections(), 1U);
  }
}

TEST(ChannelFaults, AnswerThatHasBegun_IsNotRepeated) {
  const ScriptedPeer server(Then(Headers(3, kHead)));
  EXPECT_THAT(SecondMessage(server), HasSubstr("the server closed the connection"));
  EXPECT_EQ(server.connections(), 1U);
}

TEST(ChannelFaults, AnswerBeforeTheWholeMessage_IsTheAnswer) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token& stop) {
    GrpcServer http2(client);
    std::optional<Frame> frame;
    do frame = http2.Read();
    while (frame && frame->type != NGHTTP2_HEADERS);
    http2.Send(Trailers(1, {{"grpc-status", "16"}, {"grpc-message", "who"}}) + Reset(1, NGHTTP2_NO_ERROR));
    kepler::testing::WaitFor(stop);
  });
  const auto reply = CallAt(server, 30s, std::string(4 << 20, 'x'));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->code, Code::kUnauthenticated);
  EXPECT_EQ(reply->text, "who");
}

TEST(ChannelFaults, ServerThatHangs_CostsTheDeadline) {
  struct Case {
    std::string settings;
    std::string message;
  };
  const std::string closed = Settings(Setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0));
  const std::string no_streams = Settings(Setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0));
  for (const Case& c : {Case{Settings(), "x"}, Case{closed, "x"}, Case{no_streams, "x"}, Case{"", "x"},
                        Case{Settings(), std::string(4 << 20, 'x')}}) {
    const ScriptedPeer server([&](PeerConnection& client, const std::stop_token& stop) {
      const GrpcServer http2(client, c.settings);
      kepler::testing::WaitFor(stop);
    });
    const auto reply = CallAt(server, 100ms, c.message);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::kTimeout) << reply.error().message;
  }
}

TEST(ChannelFaults, PingsWithoutEnd_DoNotPutTheDeadlineOff) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token& stop) {
    GrpcServer http2(client);
    if (!http2.ReadCall()) return;
    const std::string ping = BytesOf({.type = NGHTTP2_PING, .payload = "12345678"});
    while (http2.Send(ping) && kepler::testing::PauseFor(1ms, stop)) {
    }
  });
  const auto reply = CallAt(server, 200ms);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kTimeout) << reply.error().message;
}

TEST(ChannelFaults, StopEndsTheCall) {
  std::stop_source stop;
  const ScriptedPeer server([&](PeerConnection& client, const std::stop_token& end) {
    GrpcServer http2(client);
    if (http2.ReadCall()) stop.request_stop();
    kepler::testing::WaitFor(end);
  });
  Channel channel({});
  const auto reply = channel.Call(PlainPeer(server), CallOf("ping"), stop.get_token());
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("stopped"));
}

TEST(ChannelFaults, ServerOfHttp1_IsMalformed) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token& stop) {
    client.Send("HTTP/1.1 400 Bad Request\r\nContent-Length: 11\r\nConnection: close\r\n\r\nBad Request");
    kepler::testing::WaitFor(stop);
  });
  const auto reply = CallAt(server);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kMalformed);
  EXPECT_THAT(reply.error().message, HasSubstr("the server violates HTTP/2"));
}

/// A server that repeats a text after the head of its answer until the client leaves.
ScriptedPeer::Conversation Endless(std::string first, std::string again) {
  return [first = std::move(first), again = std::move(again)](PeerConnection& client, const std::stop_token&) {
    GrpcServer http2(client);
    if (!http2.ReadCall() || !http2.Send(first)) return;
    while (http2.Send(again)) {
    }
  };
}

TEST(ChannelFaults, AnswerWithoutEnd_IsTooLarge) {
  const ScriptedPeer server(Endless(Headers(1, kHead) + Data(1, Framed("")), Data(1, std::string(1000, 'x'))));
  const auto reply = CallAt(server);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->code, Code::kResourceExhausted);
  EXPECT_EQ(reply->text, "the answer has more than 65536 bytes");
}

TEST(ChannelFaults, HeadersWithoutEnd_AreMalformed) {
  const std::string large(8000, 'x');
  const ScriptedPeer interim(Endless("", Headers(1, {{":status", "103"}, {"link", large}})));
  const ScriptedPeer trailers(Answers({[](uint32_t stream) {
    const std::string half(9000, 'x');
    return Headers(stream, {{":status", "200"}, {"a", half}}) +
           Headers(stream, {{"grpc-status", "0"}, {"b", half}}, kEndHeaders | kEnd);
  }}));
  for (const ScriptedPeer* const server : {&interim, &trailers}) {
    const auto reply = CallAt(*server);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::kMalformed) << reply.error().message;
    EXPECT_THAT(reply.error().message, HasSubstr("more than 16384 bytes"));
  }
}

TEST(ChannelFaults, AnswerWithoutStatus_IsMalformed) {
  for (const std::string value : {"", "zero", "-1", "4294967296"}) {
    const ScriptedPeer server([&](PeerConnection& client, const std::stop_token&) {
      GrpcServer http2(client);
      if (http2.ReadCall()) http2.Send(Trailers(1, {{"grpc-status", value}}));
      static_cast<void>(http2.ReadCall());
    });
    const auto reply = CallAt(server);
    ASSERT_FALSE(reply) << value;
    EXPECT_EQ(reply.error().kind, ErrorKind::kMalformed) << value;
  }
}

/// A call of a server that sends these bytes after its settings. The server ends before the return.
auto CallAnsweredBy(const std::string& answer) {
  const ScriptedPeer server([&](PeerConnection& client, const std::stop_token&) {
    GrpcServer http2(client);
    if (http2.ReadCall() && http2.AwaitAck()) http2.Send(answer);
  });
  return CallAt(server);
}

TEST(ChannelFaults, CutAnswer_IsNoAnswer) {
  const std::string whole = Ok(1, "pong");
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto reply = CallAnsweredBy(whole.substr(0, size));
    ASSERT_FALSE(reply) << size;
    EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable) << reply.error().message;
  }
  ASSERT_TRUE(CallAnsweredBy(whole));
}

TEST(ChannelFaults, ChangedAnswer_IsAReplyOrAnError) {
  std::minstd_rand random(7);
  const std::string whole = Ok(1, "pong");
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 << random() % 8));
    const auto reply = CallAnsweredBy(changed);
    const bool is_ok = reply && reply->code == Code::kOk && reply->message;
    EXPECT_TRUE(!is_ok || reply->message->size() == 4U) << at;
    EXPECT_TRUE(reply || reply.error().kind != ErrorKind::kTimeout) << at << reply.error().message;
  }
}

}  // namespace
}  // namespace kepler::http::grpc
