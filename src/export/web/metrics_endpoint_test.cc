#include "export/web/metrics_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <string>

#include "http/server/test_server.h"
#include "testing/snapshot_builder.h"

namespace kepler::web {
namespace {

using ::testing::HasSubstr;

TEST(MetricsEndpoint, NoMemoryForThePage_Is503AndTheNextOneIsWholeAndSaysSo) {
  std::atomic<int> pages = 0;
  prometheus::ScrapeCache cache({.node_name = "n"}, [&pages]() -> snapshot::SelfStatus {
    if (++pages == 1) throw std::bad_alloc();
    return {};
  });
  const auto snapshot = std::make_shared<const snapshot::Snapshot>(kepler::testing::EmptySnapshot({"package"}));
  const SystemClock clock;
  MetricsEndpoint endpoint([&] { return Reading{snapshot, false}; }, cache, clock);
  ASSERT_TRUE(endpoint.Start());
  const auto server = http::testing::MakeServer();
  server->Handle("/metrics", [&endpoint](const http::Request& request, http::Responder responder) {
    endpoint.Handle(request, std::move(responder));
  });
  ASSERT_TRUE(server->Start());
  auto client = http::testing::Connect(*server);
  const auto first = client.Get("/metrics");
  EXPECT_EQ(first.status, 503u);
  EXPECT_THAT(first.body, HasSubstr("memory"));
  const auto second = client.Get("/metrics");
  EXPECT_EQ(second.status, 200u);
  EXPECT_THAT(second.body, HasSubstr("promhttp_metric_handler_errors_total{cause=\"encoding\"} 1\n"));
  server->Stop();
}

TEST(MetricsEndpoint, ClientWithoutGzip_GetsTheSamePageInPieces) {
  prometheus::ScrapeCache cache({.node_name = "n"});
  const auto snapshot =
      std::make_shared<const snapshot::Snapshot>(kepler::testing::BusySnapshot({"package", "dram"}, 1'000));
  const SystemClock clock;
  MetricsEndpoint endpoint([&] { return Reading{snapshot, false}; }, cache, clock);
  ASSERT_TRUE(endpoint.Start());
  const auto server = http::testing::MakeServer();
  server->Handle("/metrics", [&endpoint](const http::Request& request, http::Responder responder) {
    endpoint.Handle(request, std::move(responder));
  });
  ASSERT_TRUE(server->Start());
  auto client = http::testing::Connect(*server);
  const auto reply = client.Get("/metrics");
  EXPECT_FALSE(reply.cut);
  EXPECT_EQ(reply.headers.at("transfer-encoding"), "chunked");
  EXPECT_FALSE(reply.headers.contains("content-encoding"));
  const auto page = cache.Get(snapshot, prometheus::Format::kText004, false);
  ASSERT_GT(page->pieces.size(), 3u);
  std::string text;
  for (size_t piece = 0; piece < page->pieces.size(); ++piece) text += page->TextOf(piece);
  EXPECT_EQ(reply.body, text);
  EXPECT_EQ(client.Get("/metrics", "Accept-Encoding: gzip\r\n").body, page->gzip);
  server->Stop();
}

}  // namespace
}  // namespace kepler::web
