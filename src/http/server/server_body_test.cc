// Bodies of requests: nobody wants one, and yet they come.
#include <gtest/gtest.h>

#include <string>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"

namespace kepler::http {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using testing::StartServer;

TEST(ServerBody, Short_IsDroppedAndTheConnectionStays) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + std::string(50'000, 'b'));
  EXPECT_EQ(client.Read().status, 200u);
  EXPECT_EQ(client.Get("/hello").status, 200u);
}

TEST(ServerBody, LongOrChunked_EndsTheConnectionAfterTheAnswer) {
  const auto server = StartServer();
  for (const auto* lines : {"Content-Length: 70000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
    auto client = Connect(*server);
    client.Send(std::string("POST /hello HTTP/1.1\r\nHost: a\r\n") + lines + std::string(70'000, 'b'));
    const auto reply = client.Read();
    EXPECT_EQ(reply.status, 405u);
    EXPECT_EQ(reply.headers.at("connection"), "close");
    EXPECT_TRUE(client.WaitForEnd());
  }
}

TEST(ServerBody, Expect100Continue_GetsTheFinalAnswer) {
  const auto server = StartServer();
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Read().status, 200u);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(ServerBody, ThatNeverComes_EndsTheConnectionWithoutASecondAnswer) {
  const auto server = StartServer({.header_time = 500ms});
  for (const std::string begun : {"", "bo"}) {
    auto client = Connect(*server);
    client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n" + begun);
    EXPECT_EQ(client.Read().status, 200u);
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(client.left_over(), "");
  }
  EXPECT_EQ(server->status().timeouts, 2u);
  EXPECT_EQ(server->status().requests, 2u);
}

TEST(ServerBody, ThatHasCome_LeavesAnIdleConnection) {
  const auto server = StartServer({.header_time = 400ms, .idle_time = 1h});
  auto at_once = Connect(*server), late = Connect(*server);
  const std::string head = "GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";
  at_once.Send(head + "body");
  EXPECT_EQ(at_once.Read().status, 200u);
  late.Send(head);
  EXPECT_EQ(late.Read().status, 200u);
  late.Send("body");
  for (auto* client : {&at_once, &late}) {
    EXPECT_FALSE(client->Readable(600ms));  // more than a request may take
    EXPECT_EQ(client->Get("/hello").status, 200u);
  }
  EXPECT_EQ(server->status().timeouts, 0u);
}

TEST(ServerBody, RequestBegunBehindABody_IsStillCutWith408) {
  const auto server = StartServer({.header_time = 500ms});
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbodyGET /he");
  EXPECT_EQ(client.Read().status, 200u);
  EXPECT_EQ(client.Read().status, 408u);
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(server->status().timeouts, 1u);
}

}  // namespace
}  // namespace kepler::http
