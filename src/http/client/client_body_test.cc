// Bodies that are sent: shared and streamed ones, and servers that do not want them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http/client/client_test_util.h"

namespace kepler::http::client {
namespace {

using namespace std::chrono_literals;
using kepler::testing::PeerConnection;
using kepler::testing::ScriptedPeer;
using kepler::testing::WaitFor;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kDone = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

size_t NumberAt(std::string_view text, int base) {
  size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

/// The body behind this head.
std::string ReadBody(PeerConnection& client, const std::string& head) {
  constexpr std::string_view kLength = "Content-Length: ";
  if (const size_t at = head.find(kLength); at != std::string::npos)
    return client.ReadBytes(NumberAt(std::string_view(head).substr(at + kLength.size()), 10));
  std::string body;
  if (!head.contains("chunked")) return body;
  while (const auto line = client.ReadUntil("\r\n")) {
    const size_t size = NumberAt(*line, 16);
    body += client.ReadBytes(size);
    static_cast<void>(client.ReadBytes(2));
    if (size == 0) break;
  }
  return body;
}

/// Sends back the body of each request behind its head.
void Echo(PeerConnection& client, const std::stop_token&) {
  while (const auto head = client.ReadHead()) {
    const std::string text = *head + ReadBody(client, *head);
    if (!client.Send("HTTP/1.1 201 Created\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text))
      return;
  }
}

SharedText Text(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

/// These pieces, and then the end.
StreamedBody Pieces(std::vector<std::string> pieces, std::optional<uint64_t> length = {}) {
  auto left = std::make_shared<std::pair<std::vector<std::string>, size_t>>(std::move(pieces), 0);
  return {.next = [left]() -> Result<std::string_view> {
            return left->second < left->first.size() ? std::string_view(left->first[left->second++]) : "";
          },
          .length = length};
}

ClientRequest Post(RequestBody body) { return {.method = Method::kPost, .target = "/", .body = std::move(body)}; }

TEST(ClientBody, ComesAsItWasSent_OverOneConnection) {
  const ScriptedPeer server(ScriptedPeer::Conversation{Echo});
  Client client;
  const std::string large(300'000, 'x');
  for (const RequestBody& body :
       {RequestBody(Text("hello")), RequestBody(Text("")), RequestBody(Text(large)), RequestBody(Pieces({"he", "llo"})),
        RequestBody(Pieces({"he", "llo"}, 5)), RequestBody(Pieces({large, large})), RequestBody(Pieces({})),
        RequestBody(Pieces({}, 0)), RequestBody()}) {
    const auto got = Send(client, PlainPeer(server), Post(body));
    ASSERT_TRUE(got.answer) << got.answer.error().message;
    EXPECT_EQ(got.answer->status, 201u);
    const auto* const text = std::get_if<SharedText>(&body);
    const std::string sent = got.body.substr(got.body.find("\r\n\r\n") + 4);
    EXPECT_THAT(sent, ::testing::AnyOf("hello", large, large + large, ""));
    EXPECT_TRUE(text == nullptr || sent == (*text ? **text : ""));
    EXPECT_THAT(got.body,
                HasSubstr(text != nullptr || std::get<StreamedBody>(body).length ? "Content-Length: "
                                                                                 : "Transfer-Encoding: chunked"));
  }
  EXPECT_EQ(server.connections(), 1u);
}

TEST(ClientBody, MethodsAndHeadersAreSent) {
  const ScriptedPeer server(ScriptedPeer::Conversation{Echo});
  Client client;
  for (const auto& [method, name] : {std::pair(Method::kPost, "POST"),
                                     {Method::kPut, "PUT"},
                                     {Method::kPatch, "PATCH"},
                                     {Method::kDelete, "DELETE"}}) {
    const auto got = Send(client, PlainPeer(server),
                          {.method = method,
                           .target = "/x",
                           .content_type = "application/x-protobuf",
                           .headers = {{"X-Scope-OrgID", "a b"}},
                           .body = Text("hello")});
    EXPECT_THAT(got.body, AllOf(::testing::StartsWith(std::string(name) + " /x HTTP/1.1\r\n"),
                                HasSubstr("Content-Type: application/x-protobuf\r\n"),
                                HasSubstr("X-Scope-OrgID: a b\r\n"), ::testing::EndsWith("\r\n\r\nhello")));
  }
  EXPECT_THAT(Send(client, PlainPeer(server), {.target = "/"}).body,
              AllOf(HasSubstr("GET / "), Not(HasSubstr("Content-Length"))));
}

TEST(ClientBody, HeadersThatWouldEndEarly_AreNotSent) {
  const ScriptedPeer server(ScriptedPeer::Conversation{Echo});
  for (const ClientRequest& request :
       {ClientRequest{.target = "/\r\nX: y"}, ClientRequest{.target = "/a b"}, ClientRequest{.target = ""},
        ClientRequest{.target = "/", .content_type = "a\r\nX: y"},
        ClientRequest{.target = "/", .headers = {{"A", "a\nX: y"}}},
        ClientRequest{.target = "/", .headers = {{"A: b", "c"}}}, ClientRequest{.target = "/", .headers = {{"", "c"}}},
        // The client writes these itself.
        ClientRequest{.target = "/", .headers = {{"content-length", "5"}}},
        ClientRequest{.target = "/", .headers = {{"Authorization", "Bearer t0k"}}},
        ClientRequest{.target = "/", .user = "a:b", .password = "c"}}) {
    const auto got = Get(PlainPeer(server), request);
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.answer.error().kind, ErrorKind::kInvalid);
  }
  EXPECT_EQ(server.calls(), 0u);
}

TEST(ClientBody, ErrorOfAStreamedBody_EndsTheRequest) {
  const ScriptedPeer server(ScriptedPeer::Conversation{Echo});
  const auto fails = [calls = 0]() mutable -> Result<std::string_view> {
    if (++calls == 1) return "begin";
    return Fail(ErrorKind::kIo, "the disk is gone");
  };
  const auto got = Get(PlainPeer(server), Post(StreamedBody{.next = fails}));
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().message, "the disk is gone");
}

TEST(ClientBody, WrongLength_IsAnError) {
  const ScriptedPeer server(ScriptedPeer::Conversation{Echo});
  for (const uint64_t length : {3U, 9U}) {
    const auto got = Get(PlainPeer(server), Post(Pieces({"hel", "lo"}, length)));
    ASSERT_FALSE(got.answer);
    EXPECT_EQ(got.answer.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(got.answer.error().message, HasSubstr("instead of " + std::to_string(length)));
  }
}

/// A body that goes on for ever.
StreamedBody Endless() {
  return {.next = [piece = std::string(100'000, 'x')] { return Result<std::string_view>(piece); }};
}

TEST(ClientBody, RefusalBeforeTheBodyIsSent_IsTheAnswer) {
  for (const bool closes : {true, false}) {
    const ScriptedPeer server([closes](PeerConnection& client, const std::stop_token& stop) {
      if (client.ReadHead()) client.Send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
      if (!closes) WaitFor(stop);
    });
    Client client;
    for (const size_t connections : {1U, 2U}) {
      const auto got = Send(client, PlainPeer(server), Post(Endless()));
      ASSERT_TRUE(got.answer) << got.answer.error().message;
      EXPECT_EQ(got.answer->status, 413u);
      EXPECT_EQ(got.answer->body, "no");
      EXPECT_EQ(server.connections(), connections) << "the rest of the body belongs to no request";
    }
  }
}

TEST(ClientBody, InterimAnswer_DoesNotEndTheBody) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token&) {
    const auto head = client.ReadHead();
    client.Send("HTTP/1.1 100 Continue\r\n\r\n");
    if (head && ReadBody(client, *head) == "hello") client.Send(kDone);
  });
  EXPECT_EQ(Get(PlainPeer(server), Post(Pieces({"he", "llo"}))).body, "ok");
}

TEST(ClientBody, AnswerThatComesWithTheBody_EndsNeither) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token&) {
    if (!client.ReadHead()) return;
    client.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (const auto line = client.ReadUntil("\r\n")) {
      const size_t size = NumberAt(*line, 16);
      client.Send(*line + client.ReadBytes(size + 2));
      if (size == 0) return;
    }
  });
  EXPECT_EQ(Get(PlainPeer(server), Post(Pieces({"one", "two"}))).body, "onetwo");
}

TEST(ClientBody, ServerThatReadsNothing_IsATimeout) {
  const ScriptedPeer server([](PeerConnection&, const std::stop_token& stop) { WaitFor(stop); });
  ClientRequest request = Post(Endless());
  request.deadlines.silence = 100ms;
  const auto got = Get(PlainPeer(server), request);
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(got.answer.error().message, HasSubstr("send to http://"));
}

TEST(ClientBody, SlowReader_IsNoTimeoutWhileItReads) {
  const std::string large(20'000'000, 'x');
  const ScriptedPeer server([&large](PeerConnection& client, const std::stop_token& stop) {
    static_cast<void>(client.ReadHead());
    size_t got = 0;
    for (int i = 0; i < 20 && kepler::testing::PauseFor(60ms, stop); ++i) got += client.ReadBytes(1'000'000).size();
    if (got == large.size()) client.Send(kDone);
  });
  ClientRequest request = Post(Text(large));
  request.deadlines.silence = 1s;  // less than all of it takes
  EXPECT_EQ(Get(PlainPeer(server), request).body, "ok");
}

TEST(ClientBody, PieceThatTakesLongerThanTheSilence_IsNoTimeoutOfTheServer) {
  const ScriptedPeer server(ScriptedPeer::Conversation{Echo});
  ClientRequest request = Post(StreamedBody{.next = [once = false]() mutable -> Result<std::string_view> {
    if (std::exchange(once, true)) return "";
    std::this_thread::sleep_for(600ms);
    return "hello";
  }});
  request.deadlines.silence = 500ms;
  EXPECT_THAT(Get(PlainPeer(server), request).body, ::testing::EndsWith("hello"));
}

TEST(ClientBody, TotalDeadline_EndsASlowUpload) {
  const ScriptedPeer server([](PeerConnection& client, const std::stop_token&) {
    while (!client.ReadBytes(1000).empty()) {
    }
  });
  ClientRequest request = Post(Endless());
  request.deadlines.total = 100ms;
  const auto got = Get(PlainPeer(server), request);
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kTimeout);
}

TEST(ClientBody, ServerThatCloses_IsAnError) {
  const ScriptedPeer server(
      [](PeerConnection& client, const std::stop_token&) { static_cast<void>(client.ReadHead()); });
  const auto got = Get(PlainPeer(server), Post(Endless()));
  ASSERT_FALSE(got.answer);
  EXPECT_EQ(got.answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(server.calls(), 1u);
}

}  // namespace
}  // namespace kepler::http::client
