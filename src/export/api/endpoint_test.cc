#include "export/api/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "export/series/family.h"
#include "testing/snapshot_builder.h"

namespace kepler::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::shared_ptr<const snapshot::Snapshot> Busy(uint64_t sequence, size_t processes = 20) {
  auto s = testing::BusySnapshot({"package"}, processes);
  s.sequence = sequence;
  s.taken_boot = s.begun = BootTime(std::chrono::seconds(sequence));
  return std::make_shared<const snapshot::Snapshot>(std::move(s));
}

Endpoint Of(const std::shared_ptr<const snapshot::Snapshot>& snapshot) {
  const auto read = [snapshot] { return series::Reading{.snapshot = snapshot}; };
  return {{.gates = series::kAllLevels}, std::chrono::seconds(5), {read, read}};
}

http::server::Request Asked(std::string query) {
  http::server::Request request;
  request.query = std::move(query);
  return request;
}

http::server::Response Answer(const std::shared_ptr<const snapshot::Snapshot>& snapshot, std::string query) {
  return Of(snapshot).Snapshot(Asked(std::move(query)));
}

TEST(Endpoint, AnswersJsonThatNobodyStores) {
  const auto answer = Answer(Busy(1), "limit=1");
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_THAT(*answer.body, HasSubstr(R"("total":20,"matching":20)"));
  EXPECT_THAT(answer.headers, ::testing::Contains(::testing::Pair("Cache-Control", "no-store")));
}

TEST(Endpoint, ErrorsAreJson) {
  const auto bad = Answer(Busy(1), "limit=%22");
  EXPECT_EQ(bad.status, 400u);
  EXPECT_EQ(bad.content_type, "application/json");
  EXPECT_THAT(*bad.body, StartsWith(R"({"error":"parameter limit: \"\"\" is invalid; allowed)"));
  EXPECT_EQ(Answer(nullptr, "").status, 503u);
}

TEST(Endpoint, HistoryOfTheObservedSnapshots) {
  const auto snapshot = Busy(1);
  Endpoint endpoint = Of(snapshot);
  endpoint.Observe(*snapshot);
  const auto answer = endpoint.History(Asked("seconds=3600"));
  EXPECT_EQ(answer.status, 200u);
  EXPECT_THAT(*answer.body, HasSubstr(R"("zones":["package"],"points":[{"time":"2023-11-14T22:13:20.000Z")"));
  EXPECT_EQ(*endpoint.History(Asked("")).body, *answer.body);
  for (const char* bad : {"seconds=0", "seconds=3601", "seconds=", "seconds=1s", "seconds=-1", "x=%"})
    EXPECT_EQ(endpoint.History(Asked(bad)).status, 400u) << bad;
  EXPECT_THAT(*endpoint.History(Asked("seconds=1s")).body,
              HasSubstr(R"(parameter seconds: \"1s\" is invalid; allowed)"));
  EXPECT_EQ(Of(nullptr).History(Asked("")).status, 503u);
}

TEST(Renderings, OneTextPerSnapshotAndQuery) {
  Renderings renderings({.gates = series::kAllLevels});
  const auto first = Busy(1), second = Busy(2);
  const Query two{.limit = 2}, three{.limit = 3};
  const auto text = renderings.Get(*first, false, two);
  EXPECT_EQ(renderings.Get(*first, false, two), text);
  EXPECT_NE(renderings.Get(*first, false, three), text);
  EXPECT_NE(renderings.Get(*first, true, two), text);
  EXPECT_NE(renderings.Get(*second, false, two), text);
}

TEST(Renderings, TextsThatSomebodyHas_AreBounded) {
  Renderings renderings({.gates = series::kAllLevels});
  const auto snapshot = Busy(1, kMaxRows);
  std::vector<Renderings::Text> held;
  while (auto text = renderings.Get(*snapshot, false, {.limit = kMaxRows - held.size()})) {
    held.push_back(std::move(text));
    ASSERT_LT(held.size(), 200u);
  }
  EXPECT_GT(held.size(), 20u);
  EXPECT_EQ(Answer(snapshot, "").status, 200u) << "a limit for each agent";
  held.resize(held.size() - 3);
  EXPECT_TRUE(renderings.Get(*snapshot, false, {.limit = 1}));
}

}  // namespace
}  // namespace kepler::api
