// How long a request may take, and how it is stopped.
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "http/client/client_test_util.h"

namespace kepler::http::client {
namespace {

using namespace std::chrono_literals;
using kepler::testing::PauseFor;
using kepler::testing::ScriptedPeer;
using kepler::testing::WaitFor;

TEST(Client, InterimAnswers_DoNotPutTheDeadlineOff) {
  const ScriptedPeer slow([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    while (send("HTTP/1.1 102 Processing\r\n\r\n") && PauseFor(100ms, stop)) {
    }
  });
  const auto got = Get(PlainPeer(slow), {.target = "/pods", .deadlines = {.silence = 300ms}});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout);
}

TEST(Client, BodyMayPauseForLonger_TheHeadMayNot) {
  const ScriptedPeer server([](const std::string& head, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    if (head.contains("/body")) send(std::string(kOk) + "Content-Length: 5\r\n\r\n");
    WaitFor(stop);
  });
  const auto head = Get(PlainPeer(server), {.target = "/head", .deadlines = {.silence = 50ms, .body_silence = 1h}});
  ASSERT_FALSE(head.answer);
  EXPECT_EQ(head.answer.error().kind, ErrorKind::kTimeout);
  EXPECT_TRUE(head.answer.error().message.ends_with(": no answer in time")) << head.answer.error().message;
  const auto body = Get(PlainPeer(server), {.target = "/body", .deadlines = {.silence = 1h, .body_silence = 50ms}});
  ASSERT_FALSE(body.answer);
  EXPECT_EQ(body.answer.error().kind, ErrorKind::kTimeout);
  EXPECT_TRUE(body.answer.error().message.ends_with(": the answer was not complete in time"))
      << body.answer.error().message;
}

TEST(Client, DripsOfBytes_EndWithTheWholeTime) {
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    send(std::string(kOk) + "Content-Length: 1000000000000\r\n\r\n");
    while (!stop.stop_requested() && send("x")) std::this_thread::yield();
  });
  const auto got = Get(PlainPeer(server), {.target = "/pods", .deadlines = {.silence = 60s, .total = 100ms}});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout) << got.answer.error().message;
}

TEST(Client, FloodOfBytes_EndsWithTheWholeTime) {
  const ScriptedPeer server([](const std::string&, const ScriptedPeer::Send& send, const std::stop_token& stop) {
    send(std::string(kOk) + "Content-Length: 1000000000000\r\n\r\n");
    const std::string piece(1 << 20, ' ');
    while (!stop.stop_requested() && send(piece)) {
    }
  });
  const auto nothing = [](std::string_view) { return Status(); };
  const auto got =
      Client().Send(PlainPeer(server), {.target = "/pods", .deadlines = {.silence = 60s, .total = 100ms}}, nothing, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::kTimeout) << got.error().message;
}

TEST(Client, Stop_EndsAWaitAtOnce) {
  std::stop_source stop;
  const ScriptedPeer server([&](const std::string&, const ScriptedPeer::Send&, const std::stop_token& end) {
    stop.request_stop();
    WaitFor(end);
  });
  EXPECT_FALSE(Get(PlainPeer(server), {.target = "/pods", .deadlines = {.silence = 1h}}, stop.get_token()).answer);
}

TEST(Client, Silence_EndsIt) {
  const ScriptedPeer server(
      [](const std::string&, const ScriptedPeer::Send&, const std::stop_token& stop) { WaitFor(stop); });
  const auto got = Get(PlainPeer(server), {.target = "/pods", .deadlines = {.silence = 50ms}});
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout);
}

}  // namespace
}  // namespace kepler::http::client
