#include "export/web/metrics_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "http/server/test_server.h"
#include "testing/snapshot_builder.h"

namespace kepler::web {
namespace {

using ::testing::HasSubstr;

/// An endpoint for one snapshot, behind a server.
class ServedEndpoint {
 public:
  ServedEndpoint(prometheus::ScrapeCache& cache, std::shared_ptr<const snapshot::Snapshot> snapshot)
      : endpoint_([snapshot = std::move(snapshot)] { return series::Reading{.snapshot = snapshot}; }, cache, clock_),
        server_(http::server::testing::MakeServer()) {
    server_->Handle("/metrics", [this](const http::server::Request& request, http::server::Responder responder) {
      endpoint_.Handle(request, std::move(responder));
    });
    EXPECT_TRUE(endpoint_.Start());
    EXPECT_TRUE(server_->Start());
  }
  ~ServedEndpoint() { server_->Stop(); }
  ServedEndpoint(const ServedEndpoint&) = delete;
  ServedEndpoint& operator=(const ServedEndpoint&) = delete;
  [[nodiscard]] auto Connect() const { return http::server::testing::Connect(*server_); }

 private:
  const SystemClock clock_;
  MetricsEndpoint endpoint_;
  std::unique_ptr<http::server::Server> server_;
};

TEST(MetricsEndpoint, NoMemoryForThePage_Is503AndTheNextOneIsWholeAndSaysSo) {
  std::atomic<int> pages = 0;
  prometheus::ScrapeCache cache({.node_name = "n"}, [&pages]() -> status::SelfStatus {
    if (++pages == 1) throw std::bad_alloc();
    return {};
  });
  const ServedEndpoint served(cache,
                              std::make_shared<const snapshot::Snapshot>(kepler::testing::EmptySnapshot({"package"})));
  auto client = served.Connect();
  const auto first = client.Get("/metrics");
  EXPECT_EQ(first.status, 503u);
  EXPECT_THAT(first.body, HasSubstr("memory"));
  const auto second = client.Get("/metrics");
  EXPECT_EQ(second.status, 200u);
  EXPECT_THAT(second.body, HasSubstr("promhttp_metric_handler_errors_total{cause=\"encoding\"} 1\n"));
}

TEST(MetricsEndpoint, ClientWithoutGzip_GetsTheSamePageInPieces) {
  prometheus::ScrapeCache cache({.node_name = "n"});
  const auto snapshot =
      std::make_shared<const snapshot::Snapshot>(kepler::testing::BusySnapshot({"package", "dram"}, 1'000));
  const ServedEndpoint served(cache, snapshot);
  auto client = served.Connect();
  const auto reply = client.Get("/metrics");
  EXPECT_FALSE(reply.cut);
  EXPECT_EQ(reply.headers.at("transfer-encoding"), "chunked");
  EXPECT_FALSE(reply.headers.contains("content-encoding"));
  const auto page = cache.Get(*snapshot, prometheus::Format::kText004, false);
  ASSERT_GT(page->pieces.size(), 3u);
  std::string text;
  for (size_t piece = 0; piece < page->pieces.size(); ++piece) text += page->TextOf(piece);
  EXPECT_EQ(reply.body, text);
  EXPECT_EQ(client.Get("/metrics", "Accept-Encoding: gzip\r\n").body, page->gzip);
}

}  // namespace
}  // namespace kepler::web
