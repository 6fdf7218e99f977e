// Starting, listening and stopping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <thread>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/no_threads.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using ::testing::HasSubstr;
using testing::MakeServer;
using testing::StartServer;
using testing::TestClient;
using testing::Text;

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
  EXPECT_EQ(server.error().message, "listen on " + address + ": this program already listens there for " + by_name +
                                        "; remove one of the two addresses");
}

TEST(Server, NoAddress_IsAnError) {
  const auto server = Server::Create({.listen_addresses = {}, .web_config_file = {}, .limits = {}});
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message, HasSubstr("no listen address; set one"));
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
}  // namespace kepler::http::server
