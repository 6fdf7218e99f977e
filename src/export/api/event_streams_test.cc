#include "export/api/event_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "export/api/endpoint.h"
#include "export/series/family.h"
#include "http/server/test_server.h"
#include "testing/snapshot_builder.h"

namespace kepler::api {
namespace {

using http::server::testing::TestClient;
using ::testing::HasSubstr;

/// An endpoint behind a server, and the ticks of a node.
class EventNode {
 public:
  explicit EventNode(http::server::Limits limits = {}, size_t processes = 3)
      : processes_(processes), server_(http::server::testing::MakeServer(limits)) {
    endpoint_.AddRoutes(*server_);
    EXPECT_TRUE(server_->Start());
  }
  ~EventNode() { server_->Stop(); }
  EventNode(const EventNode&) = delete;
  EventNode& operator=(const EventNode&) = delete;

  void Tick() {
    auto next = testing::BusySnapshot({"package"}, processes_);
    next.sequence = ++sequence_;
    next.taken_at = WallTime(std::chrono::seconds(sequence_));
    const auto shared = std::make_shared<const snapshot::Snapshot>(std::move(next));
    board_.Publish(shared);
    endpoint_.Observe(*shared);
  }
  [[nodiscard]] http::server::Server& server() { return *server_; }
  [[nodiscard]] TestClient Open(const std::string& query = "", int receive_buffer = 0) {
    TestClient client(server_->addresses().front(), receive_buffer);
    client.SendGet("/api/v1/events" + query);
    return client;
  }

 private:
  const size_t processes_;
  snapshot::Board board_;
  uint64_t sequence_ = 0;
  const std::function<series::Reading()> read_ = [this] { return series::Reading{.snapshot = board_.Latest()}; };
  Endpoint endpoint_{{.gates = series::kAllLevels}, std::chrono::seconds(1), {read_, read_}};
  std::unique_ptr<http::server::Server> server_;
};

void ReadUntil(TestClient& client, const std::string& text) {
  while (!client.left_over().contains(text)) {
    ASSERT_TRUE(client.Readable(std::chrono::seconds(10))) << text;
    ASSERT_TRUE(client.Fill()) << text;
  }
}

TEST(EventStreams, OneEventPerSnapshot_WithTheAnswerOfTheQuery) {
  EventNode node;
  node.Tick();
  auto client = node.Open("?limit=1");
  const auto head = client.Read(/*head_only=*/true);
  EXPECT_EQ(head.headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(head.headers.at("cache-control"), "no-store");
  ReadUntil(client, "}\n\n");  // the snapshot that is there
  EXPECT_THAT(client.left_over(), HasSubstr("event: tick\ndata: {\"api\":1,\"time\":\"1970-01-01T00:00:01.000Z\""));
  auto other = http::server::testing::Connect(node.server());
  EXPECT_THAT(client.left_over(), HasSubstr("data: " + other.Get("/api/v1/snapshot?limit=1").body + "\n"));
  node.Tick();
  ReadUntil(client, R"("time":"1970-01-01T00:00:02.000Z")");
}

TEST(EventStreams, BeforeTheFirstSnapshot_ItWaits) {
  EventNode node;
  auto client = node.Open();
  EXPECT_EQ(client.Read(/*head_only=*/true).status, 200u);
  EXPECT_EQ(client.left_over(), "");
  node.Tick();
  ReadUntil(client, "00:00:01.000Z");
}

TEST(EventStreams, WithoutASnapshot_CommentsShowWhetherAClientIsThere) {
  Renderings renderings({.gates = series::kAllLevels});
  EventStreams streams([] { return series::Reading{}; }, renderings, std::chrono::milliseconds(1));
  const auto server = http::server::testing::MakeServer({});
  server->Handle("/events", [&](const auto& request, const auto& answer) { answer(streams.Open(request)); });
  ASSERT_TRUE(server->Start());
  TestClient client(server->addresses().front());
  client.SendGet("/events");
  ReadUntil(client, ": no new snapshot\n\n");
  std::vector<TestClient> gone;
  for (size_t i = 1; i < EventStreams::kMaxViewers; ++i) {
    gone.emplace_back(server->addresses().front()).SendGet("/events");
    EXPECT_EQ(gone.back().Read(/*head_only=*/true).status, 200u);
  }
  gone.clear();
  unsigned status = 503;
  while (status == 503) {  // until the comments have found that they are gone
    TestClient next(server->addresses().front());
    next.SendGet("/events");
    status = next.Read(/*head_only=*/true).status;
  }
  EXPECT_EQ(status, 200u);
  server->Stop();
}

TEST(EventStreams, BadQuery_IsAnError) {
  EventNode node;
  auto client = node.Open("?limit=0");
  const auto reply = client.Read();
  EXPECT_EQ(reply.status, 400u);
  EXPECT_THAT(reply.body, HasSubstr("parameter limit"));
}

TEST(EventStreams, TooManyViewers_AreRefused_AndAPlaceThatIsLeftIsTaken) {
  EventNode node;
  std::vector<TestClient> viewers;
  for (size_t i = 0; i < EventStreams::kMaxViewers; ++i) {
    viewers.push_back(node.Open());
    EXPECT_EQ(viewers.back().Read(/*head_only=*/true).status, 200u);
  }
  EXPECT_EQ(node.Open().Read().status, 503u);
  viewers.front().Abort();
  unsigned status = 503;
  while (status == 503) {  // a client that is gone is noticed at the next event
    node.Tick();
    auto client = node.Open();
    status = client.Read(/*head_only=*/true).status;
  }
  EXPECT_EQ(status, 200u);
}

TEST(EventStreams, AViewerThatReadsNothing_SkipsTicksAndIsCut) {
  EventNode node({.write_time = std::chrono::milliseconds(200)}, kMaxRows);
  node.Tick();
  auto slow = node.Open("?limit=1000", /*receive_buffer=*/4096);
  while (node.server().status().timeouts == 0) {  // until the kernel takes no more, and for write_time
    node.Tick();
    std::this_thread::yield();
  }
  auto other = node.Open("?limit=1");
  ReadUntil(other, "event: tick");
  EXPECT_EQ(node.server().status().timeouts, 1u);
}

}  // namespace
}  // namespace kepler::api
