// Limits of time and bytes: what a slow client can do, and what it cannot.
#include <gtest/gtest.h>
#include <poll.h>

#include <latch>
#include <string>
#include <vector>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using testing::MakeServer;
using testing::StartServer;
using testing::TestClient;

TEST(ServerLimits, SlowLoris_IsCutWith408) {
  const auto server = StartServer({.header_time = 50ms});
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\nHo");
  EXPECT_EQ(client.Read().status, 408u);
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(server->status().timeouts, 1u);
}

TEST(ServerLimits, SilentClient_IsCut) {
  const auto server = StartServer({.header_time = 50ms});
  auto client = Connect(*server);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(ServerLimits, DrippingClient_DoesNotProlongItsTime) {
  const auto server = StartServer({.header_time = 100ms});
  auto client = Connect(*server);
  client.Send("GET /hello HTTP/1.1\r\n");
  int lines = 0;
  while (!client.Readable(5ms)) {
    client.Send("X: y\r\n");
    ASSERT_LT(++lines, 2000);
  }
  EXPECT_EQ(client.Read().status, 408u);
}

TEST(ServerLimits, DrippingEmptyLines_DoNotProlongTheTime) {
  const auto server = StartServer({.header_time = 500ms});
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello").status, 200u);  // then header_time starts with the first byte
  int lines = 0;
  while (!client.Readable(5ms)) {
    client.Send("\r\n");
    ASSERT_LT(++lines, 2000);
  }
  EXPECT_EQ(client.Read().status, 408u);
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(server->status().timeouts, 1u);
}

TEST(ServerLimits, EmptyLines_CountAsPartOfTheOneRequestThatFollows) {
  const auto server = StartServer({.header_bytes = 1000});
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += "\r\n";
  auto client = Connect(*server);
  for (int i = 0; i < 3; ++i) {  // each within the limit
    client.Send(lines);
    ASSERT_EQ(client.Get("/hello").status, 200u);
  }
  client.Send(lines);
  EXPECT_FALSE(client.Readable(20ms));  // lets a read of its own take these
  client.Send(lines);
  EXPECT_EQ(client.Read().status, 431u);
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(server->status().requests, 3u);
}

TEST(ServerLimits, EndlessEmptyLines_AreCutWith431) {
  const auto server = StartServer();
  auto client = Connect(*server);
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "\r\n";
  client.Send(lines);
  EXPECT_EQ(client.Read().status, 431u);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(ServerLimits, ClientWithMuchToSay_LetsOthersGoFirst) {
  const auto server = MakeServer({.header_bytes = 1 << 20});
  std::latch held(1), sent(1);
  std::vector<std::string> order;  // of the I/O thread until the answers are here
  server->Handle("/hold", [&](const Request&, const Responder& answer) {
    held.count_down();
    sent.wait();
    answer({});
  });
  for (const char* path : {"/long", "/short"}) {
    server->Handle(path, [&](const Request& request, const Responder& answer) {
      order.push_back(request.path);
      answer({});
    });
  }
  ASSERT_TRUE(server->Start());
  auto holder = Connect(*server), talker = Connect(*server), other = Connect(*server);
  for (auto* client : {&holder, &talker, &other}) ASSERT_EQ(client->Get("/hello").status, 200u);
  std::string lines;
  while (lines.size() < (160u << 10)) lines += "X: " + std::string(1000, 'y') + "\r\n";
  holder.SendGet("/hold");
  held.wait();
  talker.SendGet("/long", lines);  // ready before the other, and in full
  other.SendGet("/short");
  sent.count_down();
  EXPECT_EQ(other.Read().status, 200u);
  EXPECT_EQ(talker.Read().status, 200u);
  EXPECT_EQ(order, (std::vector<std::string>{"/short", "/long"}));
}

TEST(ServerLimits, IdleKeepAlive_IsClosedWithoutAWord) {
  const auto server = StartServer({.idle_time = 50ms});
  auto client = Connect(*server);
  EXPECT_EQ(client.Get("/hello").status, 200u);
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(client.left_over(), "");
  EXPECT_EQ(server->status().timeouts, 0u);
}

TEST(ServerLimits, SlowReader_IsCut) {
  const auto server = MakeServer({.write_time = 100ms});
  const auto body = std::make_shared<const std::string>(16 << 20, 'x');
  server->Handle("/big", [body](const Request&, const Responder& answer) { answer({.body = body}); });
  ASSERT_TRUE(server->Start());
  TestClient client(server->addresses().front(), /*receive_buffer=*/4096);
  client.SendGet("/big");
  // A reset reaches also a client that reads nothing.
  pollfd gone{.fd = client.fd(), .events = 0, .revents = 0};
  ASSERT_EQ(::poll(&gone, 1, 10'000), 1);
  EXPECT_TRUE(gone.revents & (POLLERR | POLLHUP));
  EXPECT_EQ(client.Read().status, 0u);
  EXPECT_EQ(server->status().timeouts, 1u);
}

}  // namespace
}  // namespace kepler::http::server
