#include "modelserver/estimator/estimate_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::modelserver::estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Found = ObjectEnd::Found;

/// As pkg/model/estimator/sidecar/estimate.go writes it: all eight keys.
constexpr std::string_view kGoBody =
    R"({"metrics":["bpf_cpu_time_us","bpf_page_cache_hit"],"values":[[10,2.5],[0,0]],"output_type":"AbsPower",)"
    R"("source":"intel_rapl","system_features":["cpu_architecture_id"],"system_values":[3],)"
    R"("trainer_name":"SGDRegressorTrainer","filter":"mae:10"})";

std::string MessageOf(std::string_view text) {
  const auto read = ReadEstimateRequest(text);
  return read ? "" : read.error().message;
}

TEST(EstimateRequest, IsReadAsOldAgentsWriteIt) {
  const auto request = ReadEstimateRequest(kGoBody);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_THAT(request->features, ElementsAre("bpf_cpu_time_ms", "bpf_page_cache_hit", "cpu_architecture_id"));
  EXPECT_THAT(request->rows, ElementsAre(ElementsAre(10, 2.5, 3), ElementsAre(0, 0, 3)));
  EXPECT_EQ(request->output, model::OutputType::kAbsPower);
  EXPECT_EQ(request->source, "rapl-sysfs");
  EXPECT_EQ(request->trainer_name, "SGDRegressorTrainer");
  ASSERT_EQ(request->filter.size(), 1U);
  EXPECT_EQ(request->filter[0].limit, 10);
}

/// estimate.go has `SystemMetaDataFeatureValues []string` and writes a list without rows as null.
TEST(EstimateRequest, SystemValuesMayBeTexts) {
  const auto request = ReadEstimateRequest(
      R"({"metrics":["a"],"values":[[1],[2]],"output_type":"AbsPower","source":"intel_rapl",)"
      R"("system_features":["cpu_architecture","sockets","inf"],"system_values":["Sapphire Rapids","2","inf"],)"
      R"("trainer_name":"","filter":""})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_THAT(request->features, ElementsAre("a", "sockets"));
  EXPECT_THAT(request->rows, ElementsAre(ElementsAre(1, 2), ElementsAre(2, 2)));
  const auto none = ReadEstimateRequest(R"({"metrics":["a"],"values":null,"output_type":"AbsPower"})");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_THAT(none->rows, IsEmpty());
}

TEST(EstimateRequest, NeedsOnlyMetricsValuesAndOutput) {
  const auto request = ReadEstimateRequest(
      R"({"metrics":["a"],"values":[],"output_type":"DynPower","source":null,"system_features":[],"another":{"a":[1]}})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_THAT(request->rows, IsEmpty());
  EXPECT_EQ(request->source, "rapl-sysfs");
  EXPECT_THAT(request->filter, IsEmpty());
}

TEST(EstimateRequest, NamesWhatIsWrong) {
  EXPECT_THAT(MessageOf("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(MessageOf(R"({"values":[[1]],"output_type":"AbsPower"})"), HasSubstr("metrics"));
  EXPECT_THAT(MessageOf(R"({"metrics":[],"values":[],"output_type":"AbsPower"})"),
              HasSubstr("metrics: the list is em"));
  EXPECT_THAT(MessageOf(R"({"metrics":["a","a"],"values":[],"output_type":"AbsPower"})"), HasSubstr("occurs twice"));
  EXPECT_THAT(MessageOf(R"({"metrics":["a"],"output_type":"AbsPower"})"), HasSubstr("values"));
  EXPECT_THAT(MessageOf(R"({"metrics":["a"],"values":[[1,2]],"output_type":"AbsPower"})"),
              HasSubstr("values[0]: 2 numbers, but metrics has 1 names"));
  EXPECT_THAT(MessageOf(R"({"metrics":["a"],"values":[["b"]],"output_type":"AbsPower"})"),
              HasSubstr("values[0][0]: expected a number, found a text"));
  EXPECT_THAT(MessageOf(R"({"metrics":["a"],"values":[[1]],"output_type":"Watts"})"),
              HasSubstr("output_type: it must be AbsPower or DynPower"));
  EXPECT_THAT(MessageOf(R"({"metrics":["a"],"values":[[1]],"output_type":"AbsPower","system_features":["b"]})"),
              HasSubstr("system_values: their number differs"));
  EXPECT_THAT(MessageOf(R"({"metrics":["a"],"values":[[1]],"output_type":"AbsPower","filter":"mae"})"),
              HasSubstr("filter: each part must be"));
}

TEST(EstimateRequest, LimitsRowsAndFeatures) {
  std::string rows;
  for (size_t i = 0; i <= kMaxRows; ++i) rows += rows.empty() ? "[1]" : ",[1]";
  EXPECT_THAT(MessageOf(R"({"metrics":["a"],"output_type":"AbsPower","values":[)" + rows + "]}"),
              HasSubstr("16385 rows; the maximum is 16384"));
  std::string names;
  for (int i = 0; i < 65; ++i) names += (names.empty() ? "\"" : ",\"") + std::to_string(i) + "\"";
  EXPECT_THAT(MessageOf(R"({"values":[],"output_type":"AbsPower","metrics":[)" + names + "]}"),
              HasSubstr("more than 64 features"));
}

TEST(EstimateRequest, TruncatedOnesAreRefused) {
  for (size_t bytes = 0; bytes < kGoBody.size(); ++bytes) EXPECT_NE(MessageOf(kGoBody.substr(0, bytes)), "") << bytes;
}

TEST(ObjectEnd, IsFoundWhereverTheBytesAreCut) {
  constexpr std::string_view kText = R"( {"a":{"}\"}":"{"},"b":["\\"]})";
  for (size_t cut = 0; cut < kText.size(); ++cut) {
    ObjectEnd end;
    EXPECT_EQ(end.Read(kText.substr(0, cut)), Found::kMore) << cut;
    EXPECT_EQ(end.Read(kText.substr(cut)), Found::kEnd) << cut;
    EXPECT_EQ(end.Read("{"), Found::kEnd);
  }
}

TEST(ObjectEnd, RefusesWhatIsNoObject) {
  EXPECT_EQ(ObjectEnd().Read("GET / HTTP/1.1"), Found::kNoObject);
  EXPECT_EQ(ObjectEnd().Read("}"), Found::kNoObject);
  EXPECT_EQ(ObjectEnd().Read("[{}]"), Found::kNoObject);
  EXPECT_EQ(ObjectEnd().Read(" \r\n\t"), Found::kMore);
}

}  // namespace
}  // namespace kepler::modelserver::estimator
