#include "export/prometheus/scrape_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "export/prometheus/render_test_util.h"
#include "testing/snapshot_builder.h"

namespace kepler::prometheus {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const snapshot::Snapshot> Numbered(uint64_t sequence) {
  auto s = std::make_shared<snapshot::Snapshot>(kepler::testing::BusySnapshot({"package"}, 50));
  s->sequence = sequence;
  return s;
}

class ScrapeCacheTest : public ::testing::Test {
 protected:
  ScrapeCache::PagePtr Ask(uint64_t sequence, Format format = Format::kText004, bool stale = false) {
    return cache_.Get(Numbered(sequence), format, stale);
  }
  std::atomic<int> rendered_ = 0;
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
      for (const Format format : {Format::kText004, Format::kOpenMetrics100}) read.insert(Ask(1, format, stale).get());
  }
  EXPECT_EQ(rendered_, 4);
  EXPECT_EQ(read.size(), 4u);
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

TEST_F(ScrapeCacheTest, Snapshot_NotKept) {
  const auto snapshot = Numbered(7);
  const auto page = cache_.Get(snapshot, Format::kText004, false);
  EXPECT_EQ(snapshot.use_count(), 1);
}

TEST_F(ScrapeCacheTest, ManyAtOnce_OneRendering) {
  constexpr int kReaders = 8;
  std::latch start(kReaders);
  std::vector<ScrapeCache::PagePtr> pages(kReaders);
  const auto snapshot = Numbered(1);
  {
    std::vector<std::jthread> readers;
    readers.reserve(kReaders);
    for (size_t i = 0; i < kReaders; ++i)
      readers.emplace_back([&, i] {
        start.arrive_and_wait();
        pages[i] = cache_.Get(snapshot, Format::kText004, false);
      });
  }
  EXPECT_EQ(std::set(pages.begin(), pages.end()).size(), 1u);
  EXPECT_EQ(rendered_, 1);
}

TEST_F(ScrapeCacheTest, ManySnapshotsAtOnce_EachItsOwn) {
  std::vector<std::jthread> readers;
  readers.reserve(4);
  for (uint64_t reader = 0; reader < 4; ++reader)
    readers.emplace_back([this, reader] {
      for (uint64_t i = 0; i < 20; ++i) {
        auto s = std::make_shared<snapshot::Snapshot>(kepler::testing::EmptySnapshot({"package"}));
        s->sequence = i / 2 + reader % 2;
        s->pipeline.ticks = s->sequence;
        const auto page = cache_.Get(s, Format::kText004, false);
        EXPECT_THAT(WholeText(*page),
                    HasSubstr("kepler_ticks_total{node_name=\"n\"} " + std::to_string(s->sequence) + "\n"));
      }
    });
}

TEST(ScrapeCache, HttpServer_AskedAtEachRendering) {
  uint64_t requests = 0;
  ScrapeCache cache({.node_name = "n"}, {}, [&] { return status::HttpStatus{.requests = ++requests}; });
  for (uint64_t i = 1; i <= 3; ++i) {
    auto s = std::make_shared<snapshot::Snapshot>(kepler::testing::EmptySnapshot({"package"}));
    s->sequence = i;
    const auto page = cache.Get(s, Format::kText004, false);
    EXPECT_THAT(WholeText(*page), HasSubstr("kepler_http_requests_total{node_name=\"n\"} " + std::to_string(i) + "\n"));
  }
}

TEST(ScrapeCache, RenderingFails_ItsCallerHearsItAndTheOthersGetAPage) {
  std::atomic<int> calls = 0;
  std::latch making(1);
  std::latch may_fail(1);
  ScrapeCache cache({.node_name = "n"}, [&] {
    if (++calls > 1) return status::SelfStatus{};
    making.count_down();
    may_fail.wait();
    throw std::bad_alloc();
  });
  const auto snapshot = Numbered(1);
  const auto ask = [&] { return cache.Get(snapshot, Format::kText004, false); };
  std::vector<ScrapeCache::PagePtr> pages(4);
  {
    std::jthread first([&] { EXPECT_THROW(static_cast<void>(ask()), std::bad_alloc); });
    making.wait();
    std::latch asking(static_cast<std::ptrdiff_t>(pages.size()));
    std::vector<std::jthread> others;
    others.reserve(pages.size());
    for (ScrapeCache::PagePtr& page : pages) {
      others.emplace_back([&] {
        asking.count_down();
        page = ask();
      });
    }
    asking.wait();
    may_fail.count_down();
  }
  EXPECT_EQ(std::set(pages.begin(), pages.end()).size(), 1u);
  ASSERT_NE(pages[0], nullptr);
  EXPECT_THAT(WholeText(*pages[0]), HasSubstr("promhttp_metric_handler_errors_total{cause=\"encoding\"} 1\n"));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(ask(), pages[0]);
}

TEST(ScrapeCache, NoProvider_NoProcessFamilies) {
  ScrapeCache cache({.node_name = "n"});
  EXPECT_THAT(WholeText(*cache.Get(Numbered(1), Format::kText004, false)), Not(HasSubstr("\nprocess_")));
}

}  // namespace
}  // namespace kepler::prometheus
