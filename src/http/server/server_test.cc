#include "http/server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <thread>

#include "http/server/test_client.h"
#include "http/server/test_server.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using ::testing::HasSubstr;
using testing::MakeServer;
using testing::StartServer;
using testing::TestClient;
using testing::Text;

TEST(Server, Get_AnswersOnOneConnectionAgainAndAgain) {
  const auto server = StartServer();
  auto client = Connect(*server);
  for (int i = 0; i < 3; ++i) {
    const auto reply = client.Get("/hello");
    EXPECT_EQ(reply.status, 200u);
    EXPECT_EQ(reply.body, "hello\n");
    EXPECT_EQ(reply.headers.at("content-type"), "text/plain; charset=utf-8");
    EXPECT_TRUE(reply.headers.contains("date"));
  }
  EXPECT_EQ(server->status().requests, 3u);
  EXPECT_EQ(server->status().connections, 1u);
}

TEST(Server, Request_ReachesHandlerWhole) {
  const auto server = MakeServer();
  std::promise<Request> seen;
  server->Handle("/a b", [&](const Request& request, const Responder& answer) {
    seen.set_value(request);
    answer(Text(""));
  });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/a%20b?q=1", "Accept: x/y\r\nAccept-Encoding: gzip, br\r\n").status, 200u);
  const auto request = seen.get_future().get();
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.query, "q=1");
  EXPECT_EQ(request.headers.Get("Accept"), "x/y");
  EXPECT_EQ(request.headers.Get("accept-encoding"), "gzip, br");
}

TEST(Server, Head_IsGetWithoutBody) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto reply = client.Read(/*head_only=*/true);
  EXPECT_EQ(reply.status, 200u);
  EXPECT_EQ(reply.headers.at("content-length"), "6");
  EXPECT_EQ(client.Get("/hello").body, "hello\n");  // nothing stood in between
}

TEST(Server, NonsenseAfterHead_IsAnsweredWithItsBody) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Read(/*head_only=*/true).status, 200u);
  client.Send("GET nonsense HTTP/1.1\r\n\r\n");
  const auto reply = client.Read();
  EXPECT_EQ(reply.status, 400u);
  EXPECT_EQ(std::to_string(reply.body.size()), reply.headers.at("content-length"));
}

TEST(Server, UnknownPath_Is404) {
  const auto server = StartServer();
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/nope").status, 404u);
  EXPECT_EQ(client.Get("/hello/").status, 404u);
  EXPECT_EQ(client.Get("/hello").status, 200u);
}

TEST(Server, OtherMethod_Is405WithAllow) {
  const auto server = StartServer();
  auto client = Connect(*server);
  for (const auto* method : {"POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
    client.Send(std::string(method) + " /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto reply = client.Read();
    EXPECT_EQ(reply.status, 405u) << method;
    EXPECT_EQ(reply.headers.at("allow"), "GET, HEAD");
  }
}

TEST(Server, OtherMethodAnywhere_Is405) {
  const auto server = StartServer();
  auto client = Connect(*server);
  for (const auto* target : {"*", "/nope"}) {
    client.Send(std::string("OPTIONS ") + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(client.Read().status, 405u) << target;
  }
}

TEST(Server, RouteOfOtherMethods_SaysWhichThereAre) {
  const auto server = MakeServer();
  server->Handle({.path = "/api/", .methods = {"GET", "PUT"}},
                 [](const Request& request, const Responder& answer) { answer(Text(request.method + request.path)); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/api/a/b").body, "GET/api/a/b");
  client.Send("PUT /api/c HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Read().body, "PUT/api/c");
  client.Send("HEAD /api/c HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Read(/*head_only=*/true).headers.at("content-length"), "9");
  client.Send("POST /api/c HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto refused = client.Read();
  EXPECT_EQ(refused.status, 405u);
  EXPECT_EQ(refused.headers.at("allow"), "GET, HEAD, PUT");
  EXPECT_EQ(client.Get("/api").status, 404u);
}

TEST(Server, LinesWithoutCarriageReturn_AreRefusedAtOnce) {
  const auto server = StartServer({.header_time = 1h});
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\nHost: a\n\n");
  const auto reply = client.Read();
  EXPECT_EQ(reply.status, 400u);
  EXPECT_THAT(reply.body, HasSubstr("CR LF"));
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, TlsWithoutTls_GetsAnErrorAtOnce) {
  const auto server = StartServer({.header_time = std::chrono::minutes(1)});
  auto client = Connect(*server);
  client.Send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  const auto reply = client.Read();
  EXPECT_EQ(reply.status, 400u);
  EXPECT_EQ(reply.body, "Client sent a TLS handshake to an HTTP server.\n");
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, Pipeline_IsAnsweredInOrder) {
  const auto server = StartServer();
  auto client = Connect(*server);
  std::string requests;
  for (int i = 0; i < 300; ++i)
    requests += i % 2 == 0 ? "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n" : "GET /no HTTP/1.1\r\nHost: a\r\n\r\n";
  client.Send(requests);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(client.Read().status, i % 2 == 0 ? 200u : 404u) << i;
}

TEST(Server, ConnectionClose_ClosesAfterTheAnswer) {
  const auto server = StartServer();
  auto client = Connect(*server);
  const auto reply = client.Get("/hello", "Connection: close\r\n");
  EXPECT_EQ(reply.body, "hello\n");
  EXPECT_EQ(reply.headers.at("connection"), "close");
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, Http10_ClosesUnlessAskedToStay) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(client.Read().headers.at("connection"), "keep-alive");
  client.Send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.Read().body, "hello\n");
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, HalfClosedClient_StillGetsItsAnswer) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.SendGet("/hello");
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.Read().body, "hello\n");
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, MalformedRequestLine_Is400AndTheEnd) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("this is not http\r\n\r\n");
  EXPECT_EQ(client.Read().status, 400u);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, EmptyLinesBeforeRequest_AreTolerated) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Read().status, 200u);
}

TEST(Server, OversizedHeader_Is431EvenWhenMuchMoreCame) {
  const auto server = StartServer({.header_bytes = 1024});
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nX: " + std::string(100'000, 'x'));
  EXPECT_EQ(client.Read().status, 431u);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, DelayedAnswerFromAnotherThread_Arrives) {
  const auto server = MakeServer();
  std::jthread worker;
  server->Handle("/late", [&](const Request&, Responder answer) {
    worker = std::jthread([answer = std::move(answer)] { answer(Text("late")); });
  });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/late").body, "late");
}

TEST(Server, UnansweredRequest_Is500) {
  const auto server = MakeServer();
  server->Handle("/forgets", [](const Request&, const Responder&) {});
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/forgets").status, 500u);
  EXPECT_EQ(client.Get("/hello").status, 200u);
}

TEST(Server, SecondAnswer_IsIgnored) {
  const auto server = MakeServer();
  server->Handle("/twice", [](const Request&, const Responder& answer) {
    answer(Text("first"));
    answer(Text("second"));
  });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/twice").body, "first");
  EXPECT_EQ(client.Get("/hello").body, "hello\n");
}

TEST(Server, ClientGoneBeforeTheAnswer_IsANoOp) {
  const auto server = MakeServer();
  std::promise<Responder> kept;
  server->Handle("/slow", [&](const Request&, const Responder& answer) { kept.set_value(answer); });
  ASSERT_TRUE(server->Start());
  auto gone = Connect(*server);
  gone.SendGet("/slow");
  const auto answer = kept.get_future().get();
  gone.Abort();
  answer(Text(std::string(1 << 20, 'x')));
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello").status, 200u);
}

TEST(Server, ClientGoneMidResponse_HarmsNobody) {
  const auto server = MakeServer();
  server->Handle("/big", [](const Request&, const Responder& answer) { answer(Text(std::string(8 << 20, 'x'))); });
  ASSERT_TRUE(server->Start());
  for (int i = 0; i < 20; ++i) {
    TestClient gone(server->addresses().front(), /*receive_buffer=*/4096);
    gone.SendGet("/big");
    ASSERT_TRUE(gone.Readable(10s));
    gone.Abort();
  }
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello").status, 200u);
}

TEST(Server, Response_LeavesInOnePiece) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.SendGet("/hello");
  ASSERT_TRUE(client.Readable(10s));
  char bytes[4096];
  const ssize_t n = ::recv(client.fd(), bytes, sizeof bytes, 0);  // head and body in the first segment
  ASSERT_GT(n, 0);
  EXPECT_TRUE(std::string_view(bytes, static_cast<size_t>(n)).ends_with("\r\n\r\nhello\n"));
}

}  // namespace
}  // namespace kepler::http::server
