// Answers that come in pieces.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "http/server/server.h"
#include "http/server/test_client.h"
#include "http/server/test_server.h"
#include "testing/certificates.h"
#include "testing/fake_tree.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Connect;
using testing::MakeServer;
using testing::TestClient;

constexpr size_t kPiece = size_t{64} * 1024;

Body PieceOf(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

/// Gives `count` pieces, the first one of 'a', and counts how many it was asked for.
Response Page(int count, std::shared_ptr<std::atomic<int>> asked = std::make_shared<std::atomic<int>>(0)) {
  return {.pieces = [count, asked](const PieceResponder& give) {
    const int number = (*asked)++;
    give(number < count ? PieceOf(std::string(kPiece, static_cast<char>('a' + number % 26))) : nullptr);
  }};
}
std::string PageOf(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(kPiece, static_cast<char>('a' + i % 26));
  return text;
}

/// Streams whose pieces the test gives, at "/watch".
class Watch {
 public:
  explicit Watch(Server& server) : server_(server) {
    server.Handle("/watch", [this](const Request&, const Responder& answer) {
      answer({.content_type = "text/event-stream", .pieces = [this, token = token_](PieceResponder give) {
                const std::scoped_lock lock(mutex_);
                awaited_ = std::move(give);
                changed_.notify_all();
              }});
    });
  }
  ~Watch() { server_.Stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Once the one before has left.
  PieceResponder Awaited() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return awaited_.has_value(); });
    return *std::exchange(awaited_, std::nullopt);
  }
  void Give(std::string text) { Awaited()(PieceOf(std::move(text))); }
  /// Those that the server has not forgotten.
  [[nodiscard]] long streams() const { return token_.use_count() - 1; }

 private:
  Server& server_;
  std::mutex mutex_;  // guards awaited_
  std::condition_variable changed_;
  std::optional<PieceResponder> awaited_;
  std::shared_ptr<int> token_ = std::make_shared<int>();
};

TEST(ServerStream, Pieces_ArriveInChunksAndTheConnectionStays) {
  const auto server = MakeServer();
  server->Handle("/page", [](const Request&, const Responder& answer) { answer(Page(40)); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.Send("GET /page HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto reply = client.Read();
  EXPECT_EQ(reply.status, 200u);
  EXPECT_FALSE(reply.raw_head.contains("Content-Length"));
  EXPECT_FALSE(reply.cut);
  EXPECT_EQ(reply.body, PageOf(40));
  EXPECT_EQ(client.Read().body, "hello\n");
}

TEST(ServerStream, OverTls_ArrivesWhole) {
  kepler::testing::FakeTree tree;
  const auto leaf = kepler::testing::MakeLeaf(kepler::testing::MakeAuthority("ca"), "server");
  tree.Write("server.crt", leaf.cert);
  tree.Write("server.key", leaf.key);
  tree.Write("web.yml", "tls_server_config: {cert_file: server.crt, key_file: server.key}\n");
  const auto server = MakeServer({}, tree.Path("web.yml"));
  server->Handle("/page", [](const Request&, const Responder& answer) { answer(Page(40)); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  ASSERT_TRUE(client.StartTls());
  for (int i = 0; i < 2; ++i) {
    const auto reply = client.Get("/page");
    EXPECT_FALSE(reply.cut);
    EXPECT_EQ(reply.body, PageOf(40));
  }
}

TEST(ServerStream, Http10_EndsWithTheConnection) {
  const auto server = MakeServer();
  server->Handle("/page", [](const Request&, const Responder& answer) { answer(Page(3)); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.Send("GET /page HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto head = client.Read(/*head_only=*/true);
  EXPECT_FALSE(head.raw_head.contains("Transfer-Encoding"));
  EXPECT_EQ(head.headers.at("connection"), "close");
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_FALSE(client.was_reset());
  EXPECT_EQ(client.left_over(), PageOf(3));
}

TEST(ServerStream, Head_AsksForNoPiece) {
  const auto server = MakeServer();
  const auto asked = std::make_shared<std::atomic<int>>(0);
  server->Handle("/page", [&](const Request&, const Responder& answer) { answer(Page(3, asked)); });
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.Send("HEAD /page HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.Read(/*head_only=*/true).headers.at("transfer-encoding"), "chunked");
  EXPECT_EQ(client.Get("/hello").body, "hello\n");
  EXPECT_EQ(*asked, 0);
}

TEST(ServerStream, EachPiece_ArrivesWhenItIsGiven) {
  const auto server = MakeServer();
  Watch watch(*server);
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.SendGet("/watch");
  EXPECT_EQ(client.Read(/*head_only=*/true).headers.at("content-type"), "text/event-stream");  // before any piece
  for (const std::string text : {"data: 1\n\n", "data: 22\n\n"}) {
    watch.Give(text);
    while (!client.left_over().ends_with(text + "\r\n")) {
      ASSERT_TRUE(client.Readable(10s));
      ASSERT_TRUE(client.Fill());
    }
  }
  EXPECT_EQ(client.left_over(), "9\r\ndata: 1\n\n\r\na\r\ndata: 22\n\n\r\n");
  watch.Awaited()(nullptr);
  ASSERT_TRUE(client.Fill());
  EXPECT_TRUE(client.left_over().ends_with("\r\n0\r\n\r\n"));
}

TEST(ServerStream, OfAClientThatReadsNothing_OnePieceWaits) {
  const auto server = MakeServer({.write_time = 1h});
  const auto asked = std::make_shared<std::atomic<int>>(0);
  server->Handle("/page", [&](const Request&, const Responder& answer) { answer(Page(400, asked)); });
  ASSERT_TRUE(server->Start());
  TestClient slow(server->addresses().front(), /*receive_buffer=*/4096);
  slow.SendGet("/page");
  ASSERT_TRUE(slow.Readable(10s));
  auto other = Connect(*server);
  int before = -1;
  while (before != *asked) {  // until the kernel takes no more
    before = *asked;
    for (int i = 0; i < 50; ++i) ASSERT_EQ(other.Get("/hello").status, 200u);
  }
  EXPECT_LT(*asked, 200);
  EXPECT_EQ(slow.Read().body, PageOf(400));
  EXPECT_EQ(*asked, 401);
}

TEST(ServerStream, SlowReader_IsCut) {
  const auto server = MakeServer({.write_time = 100ms});
  server->Handle("/page", [](const Request&, const Responder& answer) { answer(Page(2000)); });
  ASSERT_TRUE(server->Start());
  TestClient client(server->addresses().front(), /*receive_buffer=*/4096);
  client.SendGet("/page");
  pollfd gone{.fd = client.fd(), .events = 0, .revents = 0};
  ASSERT_EQ(::poll(&gone, 1, 10'000), 1);
  EXPECT_TRUE(gone.revents & (POLLERR | POLLHUP));
  EXPECT_EQ(server->status().timeouts, 1u);
}

TEST(ServerStream, WaitingForAPiece_HasNoDeadline) {
  const auto server = MakeServer({.header_time = 50ms, .idle_time = 50ms, .body_time = 50ms, .write_time = 50ms});
  Watch watch(*server);
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.SendGet("/watch");
  EXPECT_EQ(client.Read(/*head_only=*/true).status, 200u);
  EXPECT_FALSE(client.Readable(200ms));
  watch.Give("x");
  EXPECT_TRUE(client.Readable(10s));
}

TEST(ServerStream, PieceThatNeverComes_IsSeenByTheClient) {
  const auto server = MakeServer();
  Watch watch(*server);
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server), old_client = Connect(*server);
  client.SendGet("/watch");
  watch.Give("half");
  static_cast<void>(watch.Awaited());  // dropped
  const auto reply = client.Read();
  EXPECT_EQ(reply.body, "half");
  EXPECT_TRUE(reply.cut);
  old_client.Send("GET /watch HTTP/1.0\r\n\r\n");
  static_cast<void>(watch.Awaited());
  EXPECT_TRUE(old_client.WaitForEnd());
  EXPECT_TRUE(old_client.was_reset());  // a mere end would be that of the answer
  EXPECT_EQ(Connect(*server).Get("/hello").status, 200u);
  EXPECT_EQ(watch.streams(), 0);
}

TEST(ServerStream, ClientThatIsGone_IsForgottenAtTheNextPiece) {
  const auto server = MakeServer();
  Watch watch(*server);
  ASSERT_TRUE(server->Start());
  auto client = Connect(*server);
  client.SendGet("/watch");
  const auto give = watch.Awaited();
  EXPECT_EQ(watch.streams(), 1);
  client.Abort();
  give(PieceOf("anybody there?"));
  while (server->status().connections_open > 0) std::this_thread::yield();
  EXPECT_EQ(watch.streams(), 0);
}

TEST(ServerStream, Stop_EndsStreamsAtOnce) {
  auto server = MakeServer({.shutdown_time = 1h});
  Watch watch(*server);
  ASSERT_TRUE(server->Start());
  auto waiting = Connect(*server);
  TestClient writing(server->addresses().front(), /*receive_buffer=*/4096);
  waiting.SendGet("/watch");
  const auto late = watch.Awaited();
  writing.SendGet("/watch");
  watch.Give(std::string(8 << 20, 'x'));
  ASSERT_TRUE(writing.Readable(10s));
  std::jthread stopper([&] { server->Stop(); });
  EXPECT_TRUE(waiting.Read().cut);
  const auto reply = writing.Read();
  EXPECT_EQ(reply.body.size(), size_t{8} << 20);  // what is begun is sent
  EXPECT_TRUE(reply.cut);
  stopper.join();
  EXPECT_EQ(watch.streams(), 0);
  late(PieceOf("too late"));
}

TEST(ServerStream, UsersThatChange_EndStreams) {
  constexpr const char* kByAlice = "Authorization: Basic YWxpY2U6c2VjcmV0\r\n";
  const std::string alice =
      "basic_auth_users:\n  alice: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n";
  kepler::testing::FakeTree tree;
  tree.Write("web.yml", alice);
  const auto server = MakeServer({.web_check_time = 0ms}, tree.Path("web.yml"));
  Watch watch(*server);
  ASSERT_TRUE(server->Start());
  auto watcher = Connect(*server), other = Connect(*server);
  watcher.SendGet("/watch", kByAlice);
  watch.Give("x");
  const auto next = watch.Awaited();
  tree.Write("web.yml", alice + "  bob: $2b$04$ABCDEFGHIJKLMNOPQRSTUO/57aRa8jDkz7rlMXstbk28lE6qmbNQa\n");
  for (int check = 0; check < 2; ++check) EXPECT_EQ(other.Get("/hello", kByAlice).status, 200u);
  const auto reply = watcher.Read();
  EXPECT_EQ(reply.body, "x");
  EXPECT_TRUE(reply.cut);
}

}  // namespace
}  // namespace kepler::http::server
