#include "export/remote_write/request_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "export/remote_write/decoded_series_test_util.h"
#include "testing/snapshot_builder.h"

namespace kepler::remote_write {
namespace {

using snapshot::State;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kNode = "instance=n1:9 job=kepler node_name=n1";

class RequestWriterTest : public ::testing::TestWithParam<Version> {
 protected:
  RequestWriterTest() {
    s_->begun = BootTime(seconds(1000));
    s_->started = BootTime(seconds(900));
    options_ = {.version = GetParam(), .node_name = "n1", .job = "kepler", .instance = "n1:9"};
  }
  std::vector<push::Request> Encode() {
    RequestWriter writer(options_, [this] { return reading_; });
    std::vector<push::Request> requests;
    writer.Encode([&](push::Request request) { requests.push_back(std::move(request)); });
    writer.Encode([&](const push::Request&) { ADD_FAILURE() << "the same snapshot a second time"; });
    return requests;
  }
  Decoded All() {
    Decoded all;
    for (const push::Request& request : Encode()) {
      const Decoded one = Decode(*request.body, GetParam());
      EXPECT_EQ(request.points, one.series.size());
      all.series.insert(all.series.end(), one.series.begin(), one.series.end());
      all.metadata.insert(one.metadata.begin(), one.metadata.end());
    }
    return all;
  }
  std::vector<std::string> Series() { return All().series; }
  /// As a series has it: only version 2.0 has start times.
  static std::string Start(int64_t time) { return fmt::format(" start={}", GetParam() == Version::k2 ? time : 0); }

  std::shared_ptr<snapshot::Snapshot> s_ =
      std::make_shared<snapshot::Snapshot>(testing::EmptySnapshot({"package", "dram"}));
  series::Reading reading_{.snapshot = s_};
  WriterOptions options_;
};

INSTANTIATE_TEST_SUITE_P(Versions, RequestWriterTest, ::testing::Values(Version::k1, Version::k2));

TEST_P(RequestWriterTest, NoSnapshot_NoRequest) {
  reading_.snapshot = nullptr;
  EXPECT_THAT(Encode(), IsEmpty());
}

TEST_P(RequestWriterTest, NodeEnergy_IsExactWithSortedLabelsAndStart) {
  s_->taken_at += milliseconds(7) + Nanoseconds(900'000);
  s_->node[0].total = Energy::Microjoules(23'051'544'038'781'874);
  s_->node[1].begin = BootTime(seconds(950));
  s_->node[1].power = Power::Watts(2.5);
  const auto series = Series();
  EXPECT_THAT(series, Contains(fmt::format("kepler_node_cpu_joules_total{{{} path=aggregated-package zone=package}} "
                                           "23051544038.781876 @1700000000007{}",
                                           kNode, Start(1'699'999'900'007))));
  EXPECT_THAT(series, Contains(fmt::format("kepler_node_cpu_joules_total{{{} path=aggregated-dram zone=dram}} 0 "
                                           "@1700000000007{}",
                                           kNode, Start(1'699'999'950'007))));
  EXPECT_THAT(series, Contains(fmt::format("kepler_node_cpu_watts{{{} path=aggregated-dram zone=dram}} 2.5 "
                                           "@1700000000007 start=0",
                                           kNode)));
}

TEST_P(RequestWriterTest, Workloads_HaveTheLabelsOfAScrapeWithoutEmptyOnes) {
  testing::AddRow(s_->processes, testing::Process(42, "sh", "/bin/sh", "c1"), {Energy::Microjoules(1)}, {0.5},
                  seconds(9), State::kTerminated);
  s_->processes.begin = {BootTime(seconds(990))};
  const std::string labels = "comm=sh container_id=c1 exe=/bin/sh " + std::string(kNode) + " pid=42 ";
  EXPECT_THAT(Series(), Contains("kepler_process_cpu_joules_total{" + labels +
                                 "state=terminated type=container zone=package} 1e-06 @1700000000000" +
                                 Start(1'699'999'990'000)));
  options_.selection.state_label = false;
  const auto exact = Series();
  EXPECT_THAT(exact, Contains(HasSubstr("cpu_seconds_total{" + labels + "type=container} 9 ")));
  EXPECT_THAT(exact, Contains(AllOf(StartsWith("kepler_process_state_info{"), HasSubstr(" state=terminated "))));
}

TEST_P(RequestWriterTest, LabelsOfPods_AreSortedAmongTheOthers) {
  const auto further = std::make_shared<const snapshot::LabelList>(
      snapshot::LabelList{{"annotation_owner", "blue"}, {"label_none", ""}, {"label_tier", "front"}});
  testing::AddRow(s_->pods,
                  snapshot::PodIdentity{.id = "p1", .name = "shop", .name_space = "default", .labels = further});
  EXPECT_THAT(Series(), Contains(HasSubstr("kepler_pod_cpu_joules_total{annotation_owner=blue instance=n1:9 job=kepler "
                                           "label_tier=front node_name=n1 pod_id=p1 pod_name=shop "
                                           "pod_namespace=default state=running zone=dram} 0 ")));
}

TEST_P(RequestWriterTest, NamesOfKepler07_HaveTheirInstanceRenamed) {
  *s_ = testing::BusySnapshot({"package", "core", "dram"}, 10);
  options_.selection.names = series::NameSet::kBoth;
  options_.selection.node_name = "n1";
  const auto series = Series();
  EXPECT_EQ(series.size(), series::CountSamples(*s_, options_.selection, {}) - 3) << "of a page";
  EXPECT_THAT(series, Contains(AllOf(StartsWith("kepler_node_package_joules_total{exported_instance=n1 "),
                                     HasSubstr(" instance=n1:9 job=kepler "))));
}

TEST_P(RequestWriterTest, EmptyConstantLabels_AreLeftOut) {
  options_.node_name = options_.job = options_.instance = "";
  EXPECT_THAT(Series(), Contains(HasSubstr("kepler_node_cpu_joules_total{path=aggregated-dram zone=dram} ")));
}

/// The series of the next push of `writer`.
std::vector<std::string> Next(RequestWriter& writer, Version version) {
  std::vector<std::string> series;
  writer.Encode([&](const push::Request& request) {
    const Decoded decoded = Decode(*request.body, version);
    EXPECT_EQ(request.points, decoded.series.size());
    EXPECT_THAT(decoded.metadata, ::testing::Not(IsEmpty()));
    series.insert(series.end(), decoded.series.begin(), decoded.series.end());
  });
  return series;
}

TEST_P(RequestWriterTest, SeriesThatEnded_GetOneStaleMarker) {
  RequestWriter writer(options_, [this] { return reading_; });
  testing::AddRow(s_->processes, testing::Process(42, "sh", "/bin/sh"), {Energy::Joules(1)}, {0.5}, seconds(9));
  testing::AddRow(s_->processes, testing::Process(43, "ls", "/bin/ls"), {Energy::Joules(2)});
  EXPECT_THAT(Next(writer, GetParam()), Not(Contains(HasSubstr(" stale "))));

  const auto ended = [&](uint64_t sequence, State state, bool stale) {
    *s_ = testing::EmptySnapshot({"package", "dram"});
    s_->sequence = sequence;
    s_->taken_at += seconds(15 * sequence);
    testing::AddRow(s_->processes, testing::Process(42, "sh", "/bin/sh"), {Energy::Joules(1)}, {}, seconds(9), state);
    reading_.stale = stale;
    std::vector<std::string> found;
    for (const std::string& series : Next(writer, GetParam()))
      if (series.contains(" stale "))
        found.push_back(series.substr(0, series.find('{')) + series.substr(series.find(" pid=")));
    return found;
  };
  const std::string gone = " pid=43 state=running type=regular zone=package} stale @1700000030000 start=0";
  const std::string moved = " pid=42 state=running type=regular zone=package} stale @1700000030000 start=0";
  EXPECT_THAT(ended(2, State::kTerminated, false),
              AllOf(Contains("kepler_process_cpu_joules_total" + gone), Contains("kepler_process_cpu_watts" + gone),
                    Contains("kepler_process_cpu_joules_total" + moved), ::testing::SizeIs(9)))
      << "two zones of two families each, and one family without zones and state";
  EXPECT_THAT(ended(3, State::kTerminated, false), IsEmpty());
}

TEST_P(RequestWriterTest, EmptyLabelThatIsRemoved_EndsNoSeries) {
  RequestWriter writer(options_, [this] { return reading_; });
  const auto push = [&](uint64_t sequence, snapshot::LabelList labels) {
    *s_ = testing::EmptySnapshot({"package"});
    s_->sequence = sequence;
    s_->taken_at += seconds(15 * sequence);
    testing::AddRow(
        s_->pods,
        snapshot::PodIdentity{.id = "p1", .labels = std::make_shared<const snapshot::LabelList>(std::move(labels))});
    return Next(writer, GetParam());
  };
  push(1, {{"label_canary", ""}, {"label_tier", "front"}});
  EXPECT_THAT(push(2, {{"label_tier", "front"}}), Not(Contains(HasSubstr(" stale "))));
  EXPECT_THAT(push(3, {{"label_tier", "back"}}), Contains(AllOf(HasSubstr("label_tier=front"), HasSubstr(" stale "))));
}

TEST_P(RequestWriterTest, TextThatIsNotUtf8_IsRepaired) {
  testing::AddRow(s_->processes, testing::Process(7, "a\xff\"\n\\", "/\xc3"), {});
  EXPECT_THAT(Series(), Contains(HasSubstr("comm=a\xEF\xBF\xBD\"\n\\ exe=/\xEF\xBF\xBD ")));
}

TEST_P(RequestWriterTest, Metadata_IsThatOfTheFamily) {
  const auto metadata = All().metadata;
  EXPECT_THAT(metadata.at("kepler_node_cpu_joules_total"),
              AllOf(StartsWith("type=1 help="), HasSubstr(" unit=joules")));
  EXPECT_THAT(metadata.at("kepler_node_cpu_watts"), AllOf(StartsWith("type=2 help="), HasSubstr(" unit=watts")));
  EXPECT_THAT(metadata.at("kepler_source_up"), AllOf(StartsWith("type=2 help="), HasSubstr(" unit=")));
}

TEST_P(RequestWriterTest, Stale_HasNoWattsAndPageFamiliesAreLeftOut) {
  reading_.stale = true;
  const auto series = Series();
  EXPECT_THAT(series, Not(Contains(HasSubstr("_watts{"))));
  EXPECT_THAT(series, Not(Contains(HasSubstr("exposed_series"))));
}

TEST_P(RequestWriterTest, StartThatIsNotBeforeTheSample_IsLeftOut) {
  s_->node[0].begin = BootTime(seconds(2000));
  EXPECT_THAT(Series(), Contains(AllOf(HasSubstr("node_cpu_joules_total{"),
                                       HasSubstr("zone=package} 0 @1700000000000 start=0"))));
}

TEST_P(RequestWriterTest, LargeNode_RequestsAreBoundedAndLoseNothing) {
  *s_ = testing::BusySnapshot({"package", "core", "dram"}, 3'000);
  const auto requests = Encode();
  ASSERT_GT(requests.size(), 5U);
  std::set<std::string> unique;
  uint64_t points = 0;
  for (const push::Request& request : requests) {
    EXPECT_LE(request.points, RequestWriter::kMaxSeries + 3);
    EXPECT_LT(request.body->size(), RequestWriter::kMaxBytes / 4);
    points += request.points;
    const Decoded decoded = Decode(*request.body, GetParam());
    EXPECT_EQ(decoded.series.size(), request.points);
    unique.insert(decoded.series.begin(), decoded.series.end());
  }
  EXPECT_EQ(unique.size(), points);
  EXPECT_EQ(points, series::CountSamples(*s_, {}, {}) - 3) << "without kepler_exposed_series and errors of /metrics";
}

TEST_P(RequestWriterTest, LongLabels_BoundTheSizeOfRequests) {
  for (int32_t pid = 1; pid <= 100; ++pid)
    testing::AddRow(s_->processes, testing::Process(pid, std::string(50'000, 'x') + fmt::format("{}", pid)));
  const auto requests = Encode();
  ASSERT_GT(requests.size(), 3U);
  for (const push::Request& request : requests) {
    size_t plain = 0;
    ASSERT_TRUE(snappy::GetUncompressedLength(request.body->data(), request.body->size(), &plain));
    EXPECT_LT(plain, RequestWriter::kMaxBytes + 250'000);
  }
}

}  // namespace
}  // namespace kepler::remote_write
