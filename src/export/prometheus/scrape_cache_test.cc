#include "export/prometheus/scrape_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

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
  ScrapeCache::Body Ask(uint64_t sequence, Format format = Format::kText004, Encoding encoding = Encoding::kIdentity,
                        bool stale = false) {
    return cache_.Get(Numbered(sequence), format, encoding, stale);
  }
  std::atomic<int> rendered_ = 0;
  ScrapeCache cache_{{.node_name = "n"}, [this] {
                       ++rendered_;
                       return snapshot::SelfStatus{};
                     }};
};

TEST_F(ScrapeCacheTest, SameRequest_SameBody) {
  const auto first = Ask(1);
  EXPECT_EQ(Ask(1), first);
  EXPECT_EQ(rendered_, 1);
}

TEST_F(ScrapeCacheTest, EachDifference_ItsOwnBody) {
  const auto text = Ask(1);
  EXPECT_THAT(*Ask(1, Format::kOpenMetrics100), HasSubstr("# EOF"));
  EXPECT_LT(Ask(1, Format::kText004, Encoding::kGzip)->size(), text->size());
  EXPECT_THAT(*Ask(1, Format::kText004, Encoding::kIdentity, true), Not(HasSubstr("_watts")));
  EXPECT_THAT(*text, HasSubstr("_watts"));
}

/// The formats and encodings that clients may take turns in.
constexpr std::array<std::pair<Format, Encoding>, 4> kPages = {{{Format::kText004, Encoding::kIdentity},
                                                                {Format::kText004, Encoding::kGzip},
                                                                {Format::kOpenMetrics100, Encoding::kIdentity},
                                                                {Format::kOpenMetrics100, Encoding::kGzip}}};

TEST_F(ScrapeCacheTest, AllPagesInTurn_RenderedOnceForAsLongAsTheyAreRead) {
  std::set<ScrapeCache::Body> read;  // as slow clients do
  for (int client = 0; client < 5; ++client) {
    for (const bool stale : {false, true})
      for (const auto& [format, encoding] : kPages) read.insert(Ask(1, format, encoding, stale));
  }
  EXPECT_EQ(rendered_, 8);
  EXPECT_EQ(read.size(), 8u);
}

TEST_F(ScrapeCacheTest, AllPagesInTurnAndNobodyReads_OnlyCompressedOnesAreKept) {
  std::vector<std::weak_ptr<const std::string>> pages;
  pages.reserve(kPages.size());
  for (const auto& [format, encoding] : kPages) pages.push_back(Ask(1, format, encoding));
  EXPECT_EQ(std::ranges::count_if(pages, [](const auto& page) { return page.expired(); }), 2);
  for (const auto& [format, encoding] : kPages) EXPECT_NE(Ask(1, format, encoding), nullptr);
  EXPECT_EQ(rendered_, 4 + 2);
}

TEST_F(ScrapeCacheTest, PlainPage_LivesNoLongerThanItsReaders) {
  auto first = Ask(1);
  const auto second = Ask(1);
  EXPECT_EQ(first, second);
  const std::string text = *first;
  first.reset();
  EXPECT_EQ(Ask(1), second);
  EXPECT_EQ(rendered_, 1);
  const std::weak_ptr<const std::string> page = Ask(2);
  EXPECT_TRUE(page.expired());
  const auto anew = Ask(2);
  EXPECT_EQ(rendered_, 3);
  EXPECT_EQ(anew->size(), text.size());
}

TEST_F(ScrapeCacheTest, CompressedPage_KeptForTheNextReader) {
  const std::weak_ptr<const std::string> page = Ask(1, Format::kText004, Encoding::kGzip);
  EXPECT_EQ(Ask(1, Format::kText004, Encoding::kGzip), page.lock());
  EXPECT_EQ(rendered_, 1);
}

TEST_F(ScrapeCacheTest, PlainPagesAtOnce_ReadersMayLeaveBeforeTheOthersWake) {
  constexpr int kReaders = 8;
  const auto snapshot = Numbered(1);
  std::latch start(kReaders);
  std::vector<std::jthread> readers;
  readers.reserve(kReaders);
  for (int i = 0; i < kReaders; ++i)
    readers.emplace_back([&] {
      start.arrive_and_wait();
      EXPECT_THAT(*cache_.Get(snapshot, Format::kText004, Encoding::kIdentity, false), HasSubstr("_watts"));
    });
}

TEST_F(ScrapeCacheTest, NewerSnapshot_OldRenderingsLetGo) {
  const std::weak_ptr<const std::string> old = Ask(1, Format::kText004, Encoding::kGzip);
  EXPECT_FALSE(old.expired());
  EXPECT_NE(Ask(2), nullptr);
  EXPECT_TRUE(old.expired());
}

TEST_F(ScrapeCacheTest, OldSnapshotAskedLate_NewerRenderingStays) {
  const auto newer = Ask(2);
  EXPECT_NE(Ask(1), nullptr);
  EXPECT_EQ(Ask(2), newer);
}

TEST_F(ScrapeCacheTest, Snapshot_NotKept) {
  const auto snapshot = Numbered(7);
  const auto body = cache_.Get(snapshot, Format::kText004, Encoding::kIdentity, false);
  EXPECT_EQ(snapshot.use_count(), 1);
}

TEST_F(ScrapeCacheTest, ManyAtOnce_OneRendering) {
  constexpr int kReaders = 8;
  std::latch start(kReaders);
  std::vector<ScrapeCache::Body> bodies(kReaders);
  const auto snapshot = Numbered(1);
  {
    std::vector<std::jthread> readers;
    readers.reserve(kReaders);
    for (size_t i = 0; i < kReaders; ++i)
      readers.emplace_back([&, i] {
        start.arrive_and_wait();
        bodies[i] = cache_.Get(snapshot, Format::kText004, Encoding::kGzip, false);
      });
  }
  EXPECT_EQ(std::set(bodies.begin(), bodies.end()).size(), 1u);
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
        const auto body = cache_.Get(s, Format::kText004, Encoding::kIdentity, false);
        EXPECT_THAT(*body, HasSubstr("kepler_ticks_total{node_name=\"n\"} " + std::to_string(s->sequence) + "\n"));
      }
    });
}

TEST(ScrapeCache, HttpServer_AskedAtEachRendering) {
  uint64_t requests = 0;
  ScrapeCache cache({.node_name = "n"}, {}, [&] { return snapshot::HttpStatus{.requests = ++requests}; });
  for (uint64_t i = 1; i <= 3; ++i) {
    auto s = std::make_shared<snapshot::Snapshot>(kepler::testing::EmptySnapshot({"package"}));
    s->sequence = i;
    const auto body = cache.Get(s, Format::kText004, Encoding::kIdentity, false);
    EXPECT_THAT(*body, HasSubstr("kepler_http_requests_total{node_name=\"n\"} " + std::to_string(i) + "\n"));
  }
}

TEST(ScrapeCache, RenderingFails_ItsCallerHearsItAndTheOthersGetABody) {
  std::atomic<int> calls = 0;
  std::latch making(1);
  std::latch may_fail(1);
  ScrapeCache cache({.node_name = "n"}, [&] {
    if (++calls > 1) return snapshot::SelfStatus{};
    making.count_down();
    may_fail.wait();
    throw std::bad_alloc();
  });
  const auto snapshot = Numbered(1);
  const auto ask = [&] { return cache.Get(snapshot, Format::kText004, Encoding::kIdentity, false); };
  std::vector<ScrapeCache::Body> bodies(4);
  {
    std::jthread first([&] { EXPECT_THROW(static_cast<void>(ask()), std::bad_alloc); });
    making.wait();
    std::latch asking(static_cast<std::ptrdiff_t>(bodies.size()));
    std::vector<std::jthread> others;
    others.reserve(bodies.size());
    for (ScrapeCache::Body& body : bodies) {
      others.emplace_back([&] {
        asking.count_down();
        body = ask();
      });
    }
    asking.wait();
    may_fail.count_down();
  }
  EXPECT_EQ(std::set(bodies.begin(), bodies.end()).size(), 1u);
  ASSERT_NE(bodies[0], nullptr);
  EXPECT_THAT(*bodies[0], HasSubstr("promhttp_metric_handler_errors_total{cause=\"encoding\"} 1\n"));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(ask(), bodies[0]);
}

TEST(ScrapeCache, NoProvider_NoProcessFamilies) {
  ScrapeCache cache({.node_name = "n"});
  EXPECT_THAT(*cache.Get(Numbered(1), Format::kText004, Encoding::kIdentity, false), Not(HasSubstr("\nprocess_")));
}

}  // namespace
}  // namespace kepler::prometheus
