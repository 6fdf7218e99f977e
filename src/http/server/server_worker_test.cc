// Handlers on workers: what is slow delays nothing else, and what does not fit is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/fake_tree.h"
#include "testing/no_threads.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using testing::MakeServer;
using testing::TestClient;

/// "/slow" blocks a worker until Release(), then answers with the user, or with the body of a POST. Release it before
/// the server stops.
class SlowHandler {
 public:
  explicit SlowHandler(Server& server) {
    server.Handle({.path = "/slow", .methods = {"GET", "POST"}, .max_body = 1000, .runs_on = RunsOn::kWorkers},
                  [this](const Request& request, const Responder& answer) { Run(request, answer); });
  }
  /// Waits until `begun` requests have begun.
  void WaitFor(int begun) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= begun; });
  }
  /// Lets `count` requests finish.
  void Release(int count) {
    const std::scoped_lock lock(mutex_);
    released_ += count;
    changed_.notify_all();
  }
  [[nodiscard]] int begun() const {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }

 private:
  void Run(const Request& request, const Responder& answer) {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return released_ > 0; });
    --released_;
    lock.unlock();
    answer({.body = request.body ? request.body : std::make_shared<const std::string>("slow " + request.user)});
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  int released_ = 0;
};

/// Threads of this process that run handlers.
int CountWorkers() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name == "handlers") ++count;
  }
  return count;
}

std::vector<TestClient> AskSlow(const Server& server, size_t count) {
  std::vector<TestClient> clients;
  clients.reserve(count);
  for (size_t i = 0; i < count; ++i) clients.push_back(Connect(server));
  for (auto& client : clients) client.SendGet("/slow");
  return clients;
}

TEST(ServerWorkers, FullWorkersAndQueue_DelayNothingElseAndTheNextIs503) {
  const auto server = MakeServer({.workers = 2, .queued_requests = 2});
  SlowHandler slow(*server);
  ASSERT_TRUE(server->Start());
  auto running = AskSlow(*server, 2);
  slow.WaitFor(2);
  auto waiting = AskSlow(*server, 2);
  while (server->status().requests < 4) std::this_thread::yield();
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
  auto refused = Connect(*server);
  const auto reply = refused.Get("/slow");
  EXPECT_EQ(reply.status, 503u);
  EXPECT_EQ(reply.headers.at("retry-after"), "1");
  EXPECT_EQ(server->status().requests_denied.overload, 1u);
  EXPECT_EQ(refused.Get("/hello").status, 200u) << "the connection stays";
  EXPECT_EQ(slow.begun(), 2);
  slow.Release(4);
  for (auto* clients : {&running, &waiting})
    for (auto& client : *clients) EXPECT_EQ(client.Read().body, "slow ");
  EXPECT_EQ(server->status().requests_denied.total(), 1u);
}

TEST(ServerWorkers, Threads_AreStartedOnlyForARouteThatNeedsThem) {
  const auto without = MakeServer({.workers = 3});
  ASSERT_TRUE(without->Start());
  EXPECT_EQ(CountWorkers(), 0);
  const auto with = MakeServer({.workers = 3});
  SlowHandler slow(*with);
  ASSERT_TRUE(with->Start());
  const auto clients = AskSlow(*with, 3);
  slow.WaitFor(3);  // a thread has its name before its first job
  EXPECT_EQ(CountWorkers(), 3);
  slow.Release(3);
  with->Stop();
  EXPECT_EQ(CountWorkers(), 0);
}

TEST(ServerWorkers, NoThread_IsAnErrorOfTheStart) {
  const auto server = MakeServer();
  const SlowHandler slow(*server);
  {
    const kepler::testing::NoThreads limit;
    const auto started = server->Start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, ::testing::StartsWith("start thread handlers: "));
  }
  ASSERT_TRUE(server->Start());
}

TEST(ServerWorkers, Login_IsCheckedWhileAllWorkersAreBusy) {
  kepler::testing::FakeTree tree;
  tree.Write("web.yml", "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n");
  const auto server = MakeServer({.workers = 1}, tree.Path("web.yml"));
  SlowHandler slow(*server);
  ASSERT_TRUE(server->Start());
  const std::string right = "Authorization: Basic YWxpY2U6c2VjcmV0\r\n";
  auto client = Connect(*server);
  client.SendGet("/slow", right);
  slow.WaitFor(1);
  EXPECT_EQ(Connect(*server).Get("/hello", "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n").status, 401u);  // hashed anew
  slow.Release(1);
  EXPECT_EQ(client.Read().body, "slow alice");
}

TEST(ServerWorkers, ClientThatResetsWhileQueued_IsNotServed) {
  const auto server = MakeServer({.workers = 1, .queued_requests = 2});
  SlowHandler slow(*server);
  ASSERT_TRUE(server->Start());
  auto running = AskSlow(*server, 1);
  slow.WaitFor(1);
  auto gone = AskSlow(*server, 1);
  auto patient = AskSlow(*server, 1);
  while (server->status().requests < 3) std::this_thread::yield();
  gone.front().Abort();
  while (server->status().connections_open > 2) std::this_thread::yield();
  slow.Release(2);
  EXPECT_EQ(running.front().Read().status, 200u);
  EXPECT_EQ(patient.front().Read().status, 200u);
  EXPECT_EQ(slow.begun(), 2);
}

TEST(ServerWorkers, HalfClosedClient_StillGetsTheAnswer) {
  const auto server = MakeServer({.workers = 1});
  SlowHandler slow(*server);
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.SendGet("/slow");
  ::shutdown(client.fd(), SHUT_WR);
  slow.WaitFor(1);
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
  slow.Release(1);
  EXPECT_EQ(client.Read().body, "slow ");
}

TEST(ServerWorkers, HandlerThatTakesTooLong_IsAnswered503AndStops) {
  const auto server = MakeServer({.workers = 1, .handler_time = 50ms});
  server->Handle({.path = "/endless", .runs_on = RunsOn::kWorkers}, [](const Request&, const Responder& answer) {
    while (answer.IsAwaited()) std::this_thread::yield();
    answer({});
  });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  const auto reply = client.Get("/endless");
  EXPECT_EQ(reply.status, 503u);
  EXPECT_EQ(reply.headers.at("retry-after"), "1");
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(client.left_over(), "");
  EXPECT_EQ(server->status().requests_denied.overload, 1u);
}

TEST(ServerWorkers, RequestThatWasAnswered503_IsNotHandledLater) {
  const auto server = MakeServer({.workers = 1, .handler_time = 50ms});
  SlowHandler slow(*server);
  server->Handle({.path = "/next", .runs_on = RunsOn::kWorkers},
                 [](const Request&, const Responder& answer) { answer({}); });
  ASSERT_TRUE(server->Start());
  auto clients = AskSlow(*server, 1);
  slow.WaitFor(1);
  auto late = Connect(*server);  // does not close: its connection waits for that
  EXPECT_EQ(late.Get("/slow").status, 503u);
  slow.Release(2);
  EXPECT_EQ(Connect(*server).Get("/next").status, 200u);
  EXPECT_EQ(slow.begun(), 1);
}

TEST(ServerWorkers, Stop_Answers503ToTheQueueAndLetsTheRunningOneFinish) {
  const auto server = MakeServer({.workers = 1, .queued_requests = 8});
  SlowHandler slow(*server);
  ASSERT_TRUE(server->Start());
  auto running = AskSlow(*server, 1);
  slow.WaitFor(1);
  auto queued = AskSlow(*server, 3);
  while (server->status().requests < 4) std::this_thread::yield();
  std::jthread stopper([&] { server->Stop(); });
  for (auto& client : queued) {
    const auto reply = client.Read();
    EXPECT_EQ(reply.status, 503u);
    EXPECT_EQ(reply.headers.at("retry-after"), "1");
    EXPECT_EQ(reply.headers.at("connection"), "close");
  }
  slow.Release(1);
  EXPECT_EQ(running.front().Read().body, "slow ");
  stopper.join();
  EXPECT_EQ(slow.begun(), 1);
}

TEST(ServerWorkers, StopWithAHandlerThatTakesLonger_CutsItsClientAndWaitsForTheHandler) {
  auto server = MakeServer({.workers = 1, .shutdown_time = 10ms});
  std::atomic<bool> begun = false;
  std::atomic<bool> returned = false;
  server->Handle({.path = "/endless", .runs_on = RunsOn::kWorkers}, [&](const Request&, const Responder& answer) {
    begun = true;
    while (answer.IsAwaited()) std::this_thread::yield();
    returned = true;
  });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.SendGet("/endless");
  while (!begun) std::this_thread::yield();
  server->Stop();
  EXPECT_TRUE(returned);
  EXPECT_EQ(client.Read().status, 0u);
}

TEST(ServerWorkers, Body_CountsUntilTheHandlerHasReturned) {
  const auto server = MakeServer({.body_bytes = 1000, .workers = 1});
  SlowHandler slow(*server);
  ASSERT_TRUE(server->Start());
  const auto post = [&](size_t bytes) {
    auto client = Connect(*server);
    client.Send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
                std::string(bytes, 'x'));
    return client;
  };
  auto first = post(600);
  slow.WaitFor(1);
  EXPECT_EQ(post(401).Read().status, 503u);
  EXPECT_EQ(server->status().requests_denied.overload, 0u);
  auto second = post(400);
  slow.Release(2);
  EXPECT_EQ(first.Read().body, std::string(600, 'x'));
  EXPECT_EQ(second.Read().body, std::string(400, 'x'));
}

}  // namespace
}  // namespace kepler::http::server
