#include "agent/metrics_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "http/server/test_server.h"
#include "pipeline/node_test_util.h"

namespace kepler::agent {
namespace {

using ::testing::HasSubstr;

TEST(MetricsEndpoint, NoMemoryForThePage_Is503AndTheNextOneIsWholeAndSaysSo) {
  pipeline::LiveNode node;
  const pipeline::Freshness freshness{std::chrono::hours(1), std::chrono::hours(1)};
  pipeline::Collector collector(*node.tick, node.board, node.system_clock, freshness);
  ASSERT_TRUE(collector.Start());
  std::atomic<int> pages = 0;
  prometheus::ScrapeCache cache({.node_name = "n"}, [&pages]() -> snapshot::SelfStatus {
    if (++pages == 1) throw std::bad_alloc();
    return {};
  });
  MetricsEndpoint endpoint(collector, cache, node.system_clock, freshness);
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

}  // namespace
}  // namespace kepler::agent
