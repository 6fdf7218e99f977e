#include "export/prometheus/scrape_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <set>

#include "export/prometheus/render_test_util.h"
#include "testing/snapshot_builder.h"

namespace kepler::prometheus {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

snapshot::Snapshot Numbered(uint64_t sequence) {
  auto s = kepler::testing::BusySnapshot({"package"}, 50);
  s.sequence = sequence;
  return s;
}

class ScrapeCacheTest : public ::testing::Test {
 protected:
  ScrapeCache::PagePtr Ask(uint64_t sequence, Format format = Format::kText004, bool stale = false) {
    return cache_.Get(Numbered(sequence), format, stale);
  }
  int rendered_ = 0;
  ScrapeCache cache_{{.node_name = "n"}, [this] {
                       ++rendered_;
                       return status::SelfStatus{};
                     }};
};

TEST_F(ScrapeCacheTest, SameRequest_SamePage) {
  const auto first = Ask(1);
  EXPECT_EQ(Ask(1), first);
  EXPECT_EQ(rendered_, 1);
}

TEST_F(ScrapeCacheTest, EachDifference_ItsOwnPage) {
  const auto page = Ask(1);
  EXPECT_THAT(WholeText(*Ask(1, Format::kOpenMetrics100)), HasSubstr("# EOF"));
  EXPECT_THAT(WholeText(*Ask(1, Format::kText004, true)), Not(HasSubstr("_watts")));
  EXPECT_THAT(WholeText(*page), HasSubstr("_watts"));
}

TEST_F(ScrapeCacheTest, AllPagesInTurn_RenderedOnceThoughNobodyHoldsThem) {
  std::set<const Page*> read;
  for (int client = 0; client < 5; ++client) {
    for (const bool stale : {false, true})
      for (const Format format : {Format::kText004, Format::kOpenMetrics100, Format::kProtobuf})
        read.insert(Ask(1, format, stale).get());
  }
  EXPECT_EQ(rendered_, 6);
  EXPECT_EQ(read.size(), 6u);
}

TEST_F(ScrapeCacheTest, NewerSnapshot_OldRenderingsLetGo) {
  const std::weak_ptr<const Page> old = Ask(1);
  EXPECT_FALSE(old.expired());
  EXPECT_NE(Ask(2), nullptr);
  EXPECT_TRUE(old.expired());
}

TEST_F(ScrapeCacheTest, OldSnapshotRequestedLater_NewerRenderingStays) {
  const auto newer = Ask(2);
  EXPECT_NE(Ask(1), nullptr);
  EXPECT_EQ(Ask(2), newer);
}

TEST(ScrapeCache, HttpServer_AskedAtEachRendering) {
  uint64_t requests = 0;
  ScrapeCache cache({.node_name = "n"}, {}, [&] { return status::HttpStatus{.requests = ++requests}; });
  for (uint64_t i = 1; i <= 3; ++i) {
    const auto page = cache.Get(Numbered(i), Format::kText004, false);
    EXPECT_THAT(WholeText(*page), HasSubstr("kepler_http_requests_total{node_name=\"n\"} " + std::to_string(i) + "\n"));
  }
}

TEST(ScrapeCache, RenderingFails_NextCallRetriesAndCountsTheFailure) {
  int calls = 0;
  ScrapeCache cache({.node_name = "n"}, [&] {
    if (++calls == 1) throw std::bad_alloc();
    return status::SelfStatus{};
  });
  const auto ask = [&] { return cache.Get(Numbered(1), Format::kText004, false); };
  EXPECT_THROW(static_cast<void>(ask()), std::bad_alloc);
  const auto page = ask();
  ASSERT_NE(page, nullptr);
  EXPECT_THAT(WholeText(*page), HasSubstr("promhttp_metric_handler_errors_total{cause=\"encoding\"} 1\n"));
  EXPECT_EQ(ask(), page);
  EXPECT_EQ(calls, 2);
}

TEST(ScrapeCache, NoProvider_NoProcessFamilies) {
  ScrapeCache cache({.node_name = "n"});
  EXPECT_THAT(WholeText(*cache.Get(Numbered(1), Format::kText004, false)), Not(HasSubstr("\nprocess_")));
}

}  // namespace
}  // namespace kepler::prometheus
