// Limits of connections and descriptors: who is served, who gives way, and who is refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
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

long PeakKilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::vector<TestClient> ConnectMany(const Server& server, size_t count) {
  std::vector<TestClient> clients;
  clients.reserve(count);
  for (size_t i = 0; i < count; ++i) clients.push_back(Connect(server));
  return clients;
}

/// Requests for "/late" that are not answered before Answer().
class DelayedAnswers {
 public:
  explicit DelayedAnswers(Server& server) {
    server.Handle("/late", [this](const Request&, Responder answer) {
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(std::move(answer));
      arrived_.notify_one();
    });
  }
  void WaitFor(size_t count) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return waiting_.size() >= count; });
  }
  void Answer() {
    const std::scoped_lock lock(mutex_);
    for (const auto& answer : std::exchange(waiting_, {}))
      answer({.body = std::make_shared<const std::string>("late")});
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Responder> waiting_;
};

TEST(ServerLimits, ManyIdleConnections_KeepNobodyOut) {
  const auto server = StartServer({.connections = 2});
  auto slowest = Connect(*server), second = Connect(*server);
  EXPECT_EQ(slowest.Get("/hello").status, 200u);
  EXPECT_EQ(second.Get("/hello").status, 200u);
  auto third = Connect(*server);
  EXPECT_EQ(third.Get("/hello").status, 200u);
  EXPECT_TRUE(slowest.WaitForEnd());
  EXPECT_EQ(second.Get("/hello").status, 200u);
  EXPECT_EQ(third.Get("/hello").status, 200u);
  EXPECT_EQ(server->status().connections_evicted, 1u);
  EXPECT_EQ(server->status().connections_refused, 0u);
  EXPECT_EQ(server->status().connections_open, 2u);
}

TEST(ServerLimits, ConnectionsWithoutAWord_GiveWayToo) {
  const auto server = StartServer({.connections = 8, .first_words_time = 0ms});
  auto silent = ConnectMany(*server, 8);
  silent.front().Send("GET /hello HT");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
}

TEST(ServerLimits, BurstOfClientsWithTheirRequests_IsAnsweredWithoutAReset) {
  const auto server = StartServer({.connections = 8});
  for (int round = 0; round < 20; ++round) {
    auto burst = ConnectMany(*server, 16);
    for (auto& client : burst) client.SendGet("/hello");
    for (auto& client : burst) EXPECT_NE(client.Read().status, 0u) << "served or 503";
  }
}

TEST(ServerLimits, FloodWithoutAWord_TakesNobodysConnection) {
  const auto server = StartServer({.connections = 4});
  auto scraper = Connect(*server);
  EXPECT_EQ(scraper.Get("/hello").status, 200u);
  const auto flood = ConnectMany(*server, 50);
  EXPECT_EQ(scraper.Get("/hello").status, 200u);
}

TEST(ServerLimits, MoreThanCanBeServed_HearWhyAndTheRestIsServed) {
  const auto server = MakeServer({.connections = 2});
  DelayedAnswers late(*server);
  ASSERT_TRUE(server->Start());
  auto first = Connect(*server), second = Connect(*server);
  for (auto* client : {&first, &second}) client->SendGet("/late");
  late.WaitFor(2);
  auto third = Connect(*server);
  EXPECT_EQ(third.Read().status, 503u);
  EXPECT_TRUE(third.WaitForEnd());
  EXPECT_EQ(server->status().connections_refused, 1u);
  EXPECT_EQ(server->status().connections_evicted, 0u);
  EXPECT_EQ(server->status().connections_open, 2u);
  late.Answer();
  EXPECT_EQ(first.Read().body, "late");
  EXPECT_EQ(second.Read().body, "late");
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
}

TEST(ServerLimits, ClientWithMostConnections_GivesOneToAnother) {
  const auto server = MakeServer({.connections = 4});
  server->Handle("/big", [big = std::make_shared<const std::string>(32 << 20, 'x')](
                             const Request&, const Responder& answer) { answer({.body = big}); });
  DelayedAnswers late(*server);
  ASSERT_TRUE(server->Start());
  std::vector<TestClient> crowd;
  crowd.reserve(4);
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back(server->addresses().front(), /*receive_buffer=*/4096, "127.0.0.2");
    crowd.back().SendGet(i == 3 ? "/late" : "/big");
    ASSERT_TRUE(i == 3 || crowd.back().Readable(10s));
  }
  late.WaitFor(1);
  TestClient one_more(server->addresses().front(), 0, "127.0.0.2");
  EXPECT_EQ(one_more.Get("/hello").status, 503u) << "it has most itself";
  auto scraper = Connect(*server);
  EXPECT_EQ(scraper.Get("/hello").status, 200u);
  // The oldest went; a reset reaches also a client that reads nothing.
  pollfd gone{.fd = crowd.front().fd(), .events = 0, .revents = 0};
  EXPECT_EQ(::poll(&gone, 1, 10'000), 1);
  EXPECT_TRUE(gone.revents & (POLLERR | POLLHUP));
  EXPECT_EQ(server->status().connections_evicted, 1u);
  EXPECT_EQ(scraper.Get("/hello").status, 200u);
  late.Answer();
  EXPECT_EQ(crowd.back().Read().body, "late");
}

/// Of `address`, each with a request for "/late".
std::vector<TestClient> BeingServed(const Server& server, DelayedAnswers& late, const char* address, size_t count) {
  std::vector<TestClient> clients;
  clients.reserve(count);
  for (size_t i = 0; i < count; ++i) clients.emplace_back(server.addresses().front(), 0, address).SendGet("/late");
  late.WaitFor(count);
  return clients;
}

TEST(ServerLimits, ClientWithMostConnections_KeepsThemWhileAsManyNewcomersAreSilent) {
  const auto server = MakeServer({.connections = 4, .first_words_time = 1h});
  DelayedAnswers late(*server);
  ASSERT_TRUE(server->Start());
  auto scraper = BeingServed(*server, late, "127.0.0.2", 2);
  const TestClient first(server->addresses().front(), 0, "127.0.0.3");
  const TestClient second(server->addresses().front(), 0, "127.0.0.4");
  TestClient stranger(server->addresses().front(), 0, "127.0.0.5");
  EXPECT_EQ(stranger.Read().status, 503u);
  EXPECT_EQ(server->status().connections_evicted, 0u);
  late.Answer();
  for (auto& client : scraper) EXPECT_EQ(client.Read().body, "late");
}

TEST(ServerLimits, ClientWithMostConnections_IsNotProtectedByOneSilentNewcomer) {
  const auto server = MakeServer({.connections = 4, .first_words_time = 1h});
  DelayedAnswers late(*server);
  ASSERT_TRUE(server->Start());
  auto crowd = BeingServed(*server, late, "127.0.0.2", 3);
  const TestClient silent(server->addresses().front(), 0, "127.0.0.2");
  TestClient stranger(server->addresses().front(), 0, "127.0.0.3");
  EXPECT_EQ(stranger.Get("/hello").status, 200u);
  EXPECT_TRUE(crowd.front().WaitForEnd());
  EXPECT_EQ(server->status().connections_evicted, 1u);
  late.Answer();
  EXPECT_EQ(crowd.back().Read().body, "late");
}

TEST(ServerLimits, FloodOfUnfinishedHeads_KeepsOutNoOtherAddress) {
  const auto server = MakeServer({.connections = 4, .first_words_time = 1h});
  ASSERT_TRUE(server->Start());
  std::vector<TestClient> flood;
  for (int i = 0; i < 4; ++i) {
    flood.emplace_back(server->addresses().front(), 0, "127.0.0.2");
    flood.back().Send("GET /hello HTTP/1.1\r\n");
  }
  TestClient stranger(server->addresses().front(), 0, "127.0.0.3");
  EXPECT_EQ(stranger.Get("/hello").status, 200u);
  TestClient one_more(server->addresses().front(), 0, "127.0.0.2");
  EXPECT_EQ(one_more.Read().status, 503u);
}

TEST(ServerLimits, FloodOfRefusedClients_IsBounded) {
  const auto server = MakeServer({.connections = 1});
  DelayedAnswers late(*server);
  ASSERT_TRUE(server->Start());
  auto served = Connect(*server);
  served.SendGet("/late");
  late.WaitFor(1);
  auto flood = ConnectMany(*server, 100);
  for (auto& client : flood) EXPECT_TRUE(client.WaitForEnd());
  late.Answer();
  EXPECT_EQ(served.Read().status, 200u);
  EXPECT_EQ(server->status().connections_refused, 100u);
}

/// Reads all replies of the clients to their ends; returns how many bytes came.
size_t DrainAll(std::vector<TestClient>& clients, size_t bytes_each) {
  std::vector<size_t> got(clients.size());
  std::vector<pollfd> waits;
  waits.reserve(clients.size());
  for (const auto& client : clients) waits.push_back({.fd = client.fd(), .events = POLLIN, .revents = 0});
  std::vector<char> chunk(size_t{256} * 1024);
  size_t total = 0;
  while (total < clients.size() * bytes_each && ::poll(waits.data(), waits.size(), 10'000) > 0) {
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      const ssize_t n = ::recv(waits[i].fd, chunk.data(), chunk.size(), MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN)) return total;
      if (n < 0) continue;
      total += static_cast<size_t>(n);
      got[i] += static_cast<size_t>(n);
      if (got[i] >= bytes_each) waits[i].fd = -1;
    }
  }
  return total;
}

TEST(ServerLimits, TwoHundredScrapesOfTwoMegabytes_ShareOneBody) {
  const auto server = MakeServer({.write_time = 60s});
  const auto body = std::make_shared<const std::string>(2 << 20, 'x');
  std::atomic<int> handled = 0;
  server->Handle("/big", [&](const Request&, const Responder& answer) {
    ++handled;
    answer({.body = body});
  });
  ASSERT_TRUE(server->Start());
  auto clients = ConnectMany(*server, 200);
  const long before = PeakKilobytes();
  for (auto& client : clients) client.SendGet("/big");
  for (auto& client : clients) ASSERT_TRUE(client.Readable(10s));  // every one is being served before any is read
  EXPECT_EQ(handled, 200);
  EXPECT_GE(DrainAll(clients, body->size() + 100), 200 * body->size());
  EXPECT_LT(PeakKilobytes() - before, 100 * 1024);  // copies would be 400 MB
}

TEST(ServerLimits, FiveHundredAndTwelveConnections_AreServedAtOnce) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < 2048) GTEST_SKIP() << "needs a limit of 2,048 open files";
  const rlimit raised{.rlim_cur = std::max<rlim_t>(files.rlim_cur, 2048), .rlim_max = files.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);
  const auto server = StartServer();
  auto clients = ConnectMany(*server, 512);
  for (auto& client : clients) client.SendGet("/hello");
  for (auto& client : clients) ASSERT_EQ(client.Read().status, 200u);
  EXPECT_EQ(server->status().connections_open, 512u);
}

// The undefined-behaviour sanitizer opens pipes to check virtual calls, and reports errors where it cannot.
#ifndef KEPLER_UBSAN
double CpuSeconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

TEST(ServerLimits, NoDescriptorsLeft_WaitsWithoutSpinningAndRecovers) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto server = StartServer();
  auto old_client = Connect(*server);
  EXPECT_EQ(old_client.Get("/hello").status, 200u);
  const rlimit low{.rlim_cur = 256, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  {
    // The new client's own socket exists before the table is full.
    UniqueFd waiting(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    std::vector<UniqueFd> fillers;
    while (true) {
      UniqueFd filler(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
      if (!filler.valid()) break;
      fillers.push_back(std::move(filler));
    }
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    ASSERT_EQ(::getpeername(old_client.fd(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    ASSERT_EQ(::connect(waiting.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    const std::string_view request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
    ASSERT_EQ(::send(waiting.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    const double cpu = CpuSeconds();
    pollfd answer{.fd = waiting.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&answer, 1, 300), 0);
    EXPECT_LT(CpuSeconds() - cpu, 0.15);  // spinning would be 0.3
    EXPECT_GE(server->status().accept_errors, 1u);
    EXPECT_LT(server->status().accept_errors, 20u);
    EXPECT_EQ(old_client.Get("/hello").status, 200u);  // who is in is served
    fillers.clear();
    EXPECT_EQ(::poll(&answer, 1, 10'000), 1);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(old_client.Get("/hello").status, 200u);
}
#endif

TEST(ServerLimits, FewDescriptors_LowerTheNumberOfConnections) {
  const auto server = MakeServer();
  server->LimitSockets(36);  // an eighth of them is for clients that are refused
  ASSERT_TRUE(server->Start());
  std::vector<TestClient> clients;
  clients.reserve(40);
  for (int i = 0; i < 40; ++i) {
    clients.push_back(Connect(*server));
    ASSERT_EQ(clients.back().Get("/hello").status, 200u);
  }
  EXPECT_EQ(server->status().connections_open, 32u);
  EXPECT_EQ(server->status().connections_evicted, 8u);
}

TEST(ServerLimits, FewDescriptors_AreNeverExceededByThoseWhoAreRefused) {
  const auto server = MakeServer();
  DelayedAnswers late(*server);
  server->LimitSockets(4);  // none to spare for a 503
  ASSERT_TRUE(server->Start());
  auto served = ConnectMany(*server, 4);
  for (auto& client : served) client.SendGet("/late");
  late.WaitFor(4);
  auto refused = Connect(*server);
  EXPECT_EQ(refused.Read().status, 0u);
  EXPECT_EQ(server->status().connections_refused, 1u);
  late.Answer();
  for (auto& client : served) EXPECT_EQ(client.Read().body, "late");
}

}  // namespace
}  // namespace kepler::http::server
