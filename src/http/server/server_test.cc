#include "http/server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/no_threads.h"

namespace kepler::http {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using ::testing::HasSubstr;
using testing::MakeServer;
using testing::StartServer;
using testing::TestClient;

Response Text(std::string text) { return {.body = std::make_shared<const std::string>(std::move(text))}; }

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

TEST(Server, AnswerAfterStop_IsANoOp) {
  auto server = MakeServer({.shutdown_time = 10ms});
  std::promise<Responder> kept;
  server->Handle("/slow", [&](const Request&, const Responder& answer) { kept.set_value(answer); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.SendGet("/slow");
  auto answer = kept.get_future().get();
  server.reset();
  answer(Text("too late"));
  EXPECT_EQ(client.Read().status, 0u);
}

TEST(Server, Stop_LetsRunningAnswersFinishAndClosesIdleOnes) {
  const auto server = MakeServer();
  std::promise<Responder> kept;
  server->Handle("/slow", [&](const Request&, const Responder& answer) { kept.set_value(answer); });
  ASSERT_TRUE(server->Start());
  auto idle = Connect(*server), busy = Connect(*server);
  EXPECT_EQ(idle.Get("/hello").status, 200u);
  busy.SendGet("/slow");
  const auto answer = kept.get_future().get();
  std::jthread stopper([&] { server->Stop(); });
  EXPECT_TRUE(idle.WaitForEnd());  // draining has begun
  answer(Text("finished"));
  const auto reply = busy.Read();
  EXPECT_EQ(reply.body, "finished");
  EXPECT_EQ(reply.headers.at("connection"), "close");
  EXPECT_TRUE(busy.WaitForEnd());
  stopper.join();
  EXPECT_EQ(server->status().connections_open, 0u);
  EXPECT_LT(TestClient(server->addresses().front()).fd(), 0);  // nobody listens
}

TEST(Server, StopTwiceOrUnstarted_IsHarmless) {
  const auto started = StartServer();
  started->Stop();
  started->Stop();
  const auto unstarted = MakeServer();
  unstarted->Stop();
  ASSERT_TRUE(unstarted->Start());
  EXPECT_LT(TestClient(unstarted->addresses().front()).fd(), 0);
}

TEST(Server, NoThreadToServeOn_IsAnErrorOfTheStart) {
  const auto server = MakeServer();
  {
    const kepler::testing::NoThreads limit;
    const auto started = server->Start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, ::testing::StartsWith("start thread http: "));
  }
  ASSERT_TRUE(server->Start());
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
}

TEST(Server, SeveralAddresses_AreAllServed) {
  auto server =
      Server::Create({.listen_addresses = {"127.0.0.1:0", "[::1]:0", ":0"}, .web_config_file = {}, .limits = {}});
  if (!server && server.error().message.contains("[::1]")) GTEST_SKIP() << "this machine has no IPv6";
  ASSERT_TRUE(server) << server.error().message;
  (*server)->Handle("/x", [](const Request&, const Responder& answer) { answer(Text("x")); });
  ASSERT_TRUE((*server)->Start());
  const auto addresses = (*server)->addresses();
  ASSERT_EQ(addresses.size(), 3u);
  EXPECT_THAT(addresses[0], ::testing::StartsWith("127.0.0.1:"));
  EXPECT_THAT(addresses[1], ::testing::StartsWith("[::1]:"));
  const auto port = addresses[2].substr(addresses[2].rfind(':'));
  for (const auto& address : {addresses[0], addresses[1], "127.0.0.1" + port, "[::1]" + port})
    EXPECT_EQ(TestClient(address).Get("/x").body, "x") << address;
}

TEST(Server, AddressTaken_StopsTheStartWithAdvice) {
  const auto first = StartServer();
  const auto address = first->addresses().front();
  const auto second =
      Server::Create({.listen_addresses = {"127.0.0.1:0", address}, .web_config_file = {}, .limits = {}});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(address));
  EXPECT_THAT(second.error().message, HasSubstr("stop it"));
}

TEST(Server, OneAddressByTwoNames_IsNotBlamedOnAnotherProcess) {
  const auto address = MakeServer()->addresses().front();  // free again
  const auto by_name = "localhost" + address.substr(address.rfind(':'));
  const auto server = Server::Create({.listen_addresses = {by_name, address}, .web_config_file = {}, .limits = {}});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().message, "listen on " + address + ": this agent already listens there for " + by_name +
                                        "; remove one of the two from web.listen-address");
}

TEST(Server, NoAddress_IsAnError) {
  const auto server = Server::Create({.listen_addresses = {}, .web_config_file = {}, .limits = {}});
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message, HasSubstr("web.listen-address"));
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

TEST(ServerStop, AnswerThatIsBeingWritten_IsTheLastOfItsConnection) {
  constexpr size_t kBytes = size_t{8} << 20;
  const auto server = MakeServer({.shutdown_time = std::chrono::hours(1)});
  std::latch asked(1);
  server->Handle("/large", [&](const Request&, const Responder& answer) {
    Response response;
    response.body = std::make_shared<const std::string>(kBytes, 'x');
    answer(std::move(response));
    asked.count_down();
  });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  asked.wait();
  const std::jthread stop([&] { server->Stop(); });
  EXPECT_EQ(client.Read().body.size(), kBytes);
}  // and Stop() comes back long before its hour is over

}  // namespace
}  // namespace kepler::http
