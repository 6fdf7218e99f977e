// That ticks take no memory for the history, and what happens without memory: a program of its own, because it
// replaces the allocation.
#include "testing/allocations.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "export/api/event_streams.h"
#include "export/api/power_history.h"
#include "export/series/family.h"
#include "http/server/test_server.h"
#include "testing/snapshot_builder.h"

namespace kepler::api {
namespace {

TEST(Allocations, HistoryOfTheSameZones_TakesNone) {
  PowerHistory history(std::chrono::seconds(5));
  auto snapshot = testing::EmptySnapshot({"package", "dram"});
  history.Add(snapshot);
  const uint64_t before = testing::allocations;
  for (int tick = 1; tick <= 1000; ++tick) {
    snapshot.taken_boot = BootTime(std::chrono::seconds(5 * tick));
    history.Add(snapshot);
  }
  EXPECT_EQ(testing::allocations, before);
  EXPECT_GT(before, 0u);
}

/// The thread of the streams gets no memory for more than the answers' own small parts.
TEST(Allocations, WithoutMemoryForEvents_StreamsEndAndTheThreadGoesOn) {
  using http::server::testing::TestClient;
  auto snapshot = std::make_shared<snapshot::Snapshot>(testing::BusySnapshot({"package"}, 100));
  snapshot->sequence = 1;
  bool has_memory = false;
  Renderings renderings({.gates = series::kAllLevels});
  EventStreams streams(
      [&] {
        testing::largest_allocation = has_memory ? SIZE_MAX : 1024;
        return series::Reading{.snapshot = snapshot};
      },
      renderings);
  const auto server = http::server::testing::MakeServer({});
  server->Handle("/events", [&](const auto& request, const auto& answer) { answer(streams.Open(request)); });
  ASSERT_TRUE(server->Start());
  std::vector<TestClient> clients;
  for (size_t i = 0; i < EventStreams::kMaxViewers; ++i) {
    clients.emplace_back(server->addresses().front()).SendGet("/events");
    EXPECT_EQ(clients.back().Read(/*head_only=*/true).status, 200u);
  }
  streams.Publish(1);
  for (TestClient& client : clients) {
    while (!client.left_over().ends_with("0\r\n\r\n")) ASSERT_TRUE(client.Fill()) << client.left_over();
    EXPECT_EQ(client.left_over(), "0\r\n\r\n") << "no event";
  }
  has_memory = true;
  TestClient next(server->addresses().front());
  next.SendGet("/events");
  while (!next.left_over().contains("event: tick")) ASSERT_TRUE(next.Fill());
  server->Stop();
}

}  // namespace
}  // namespace kepler::api
