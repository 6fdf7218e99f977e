#include "modelserver/model_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::modelserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// As the agent of Kepler 0.7 sends it.
constexpr std::string_view kAgentRequest =
    R"({"metrics":["bpf_cpu_time_ms","bpf_page_cache_hit"],"output_type":"AbsPower","source":"intel_rapl","node_type":0,)"
    R"("weight":true,"trainer_name":"SGDRegressorTrainer","filter":"","machine_spec":{"vendor":"GenuineIntel",)"
    R"("processor":"intel_xeon_e5_2686v4","cores":72,"chips":2,"memory":503,"frequency":3000,"threads_per_core":2}})";

std::string WhyRefused(std::string_view body) {
  const auto request = ReadModelRequest(body);
  return request ? "accepted" : request.error().message;
}

TEST(ModelRequest, OfTheAgentOfKepler07) {
  const auto request = ReadModelRequest(kAgentRequest);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_THAT(request->metrics, ElementsAre("bpf_cpu_time_ms", "bpf_page_cache_hit"));
  EXPECT_EQ(request->source, "rapl-sysfs");
  EXPECT_EQ(request->node_type, std::nullopt);
  EXPECT_TRUE(request->weight);
  EXPECT_EQ(request->trainer_name, "SGDRegressorTrainer");
  EXPECT_EQ(request->machine->cores, 72U);
  EXPECT_EQ(request->machine->memory_gib, 503U);
  EXPECT_EQ(request->unknown_fields, 0U);
}

TEST(ModelRequest, OfThePythonEstimator) {
  const auto request = ReadModelRequest(
      R"({"metrics":["bpf_cpu_time_ms","node_info","cpu_scaling_frequency_hertz"],"output_type":"DynPower",)"
      R"("source":"acpi","filter":"mae:10;abs_max_corr:0.7","trainer_name":""})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->output, model::OutputType::kDynPower);
  EXPECT_EQ(request->source, "acpi");
  EXPECT_THAT(request->filter, ElementsAre(Bound{"mae", 10}, Bound{"abs_max_corr", 0.7}));
  EXPECT_FALSE(request->weight);
  EXPECT_TRUE(request->loose_node_type);
}

TEST(ModelRequest, NodeTypeZeroIsATypeWithoutAMachine) {
  const std::string begin = R"({"metrics":["a"],"output_type":"AbsPower","node_type":)";
  EXPECT_EQ(ReadModelRequest(begin + "0}")->node_type, 0U);
  EXPECT_EQ(ReadModelRequest(begin + R"(0,"machine_spec":null})")->node_type, 0U);
  EXPECT_EQ(ReadModelRequest(begin + R"(0,"machine_spec":{"processor":"","cores":0}})")->node_type, std::nullopt);
  EXPECT_EQ(ReadModelRequest(begin + R"(0,"machine_spec":{"processor":"","cores":0}})")->machine, std::nullopt);
  EXPECT_EQ(ReadModelRequest(begin + R"(3,"machine_spec":{"cores":4}})")->node_type, 3U);
  EXPECT_EQ(ReadModelRequest(begin + "-1}")->node_type, std::nullopt);
}

TEST(ModelRequest, UnknownFieldsAreIgnoredAndCounted) {
  const auto request = ReadModelRequest(R"({"metrics":["a"],"output_type":"AbsPower","new":[1,{"x":2}],"other":null})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->unknown_fields, 2U);
}

TEST(ModelRequest, WeightIsWhatPythonTakesAsTrue) {
  const std::string begin = R"({"metrics":["a"],"output_type":"AbsPower","weight":)";
  for (const char* text : {"true", "1", "\"yes\"", "[1]", "[\"a\"]", "{\"a\":1}"})
    EXPECT_TRUE(ReadModelRequest(begin + text + "}")->weight) << text;
  for (const char* text : {"false", "0", "\"\"", "[]", "{}", "null"})
    EXPECT_FALSE(ReadModelRequest(begin + text + "}")->weight) << text;
}

TEST(ModelRequest, ErrorsNameTheField) {
  EXPECT_THAT(WhyRefused(R"({"output_type":"AbsPower"})"), HasSubstr("metrics"));
  EXPECT_THAT(WhyRefused(R"({"metrics":["a"]})"), HasSubstr("output_type"));
  EXPECT_THAT(WhyRefused(R"({"metrics":[],"output_type":"AbsPower"})"), HasSubstr("metrics"));
  EXPECT_THAT(WhyRefused(R"({"metrics":"a","output_type":"AbsPower"})"), HasSubstr("metrics"));
  EXPECT_THAT(WhyRefused(R"({"metrics":["a"],"output_type":"Power"})"), HasSubstr("output_type"));
  const auto with = [](std::string_view rest) {
    return WhyRefused(std::string(R"({"metrics":["a"],"output_type":"AbsPower",)") + std::string(rest) + "}");
  };
  EXPECT_THAT(with(R"("source":"battery")"), HasSubstr("source: unknown energy source"));
  EXPECT_THAT(with(R"("source":7)"), HasSubstr("source"));
  EXPECT_THAT(with(R"("node_type":-2)"), HasSubstr("node_type"));
  EXPECT_THAT(with(R"("node_type":1.5)"), HasSubstr("node_type"));
  EXPECT_THAT(with(R"("node_type":"1")"), HasSubstr("node_type"));
  EXPECT_THAT(with(R"("filter":"mae")"), HasSubstr("filter"));
  EXPECT_THAT(with(R"("filter":"mae:low")"), HasSubstr("filter"));
  EXPECT_THAT(with(R"("machine_spec":"large")"), HasSubstr("machine_spec"));
  EXPECT_THAT(with(R"("machine_spec":{"cores":-4})"), HasSubstr("cores"));
  EXPECT_NE(WhyRefused(""), "accepted");
  EXPECT_NE(WhyRefused("[]"), "accepted");
  EXPECT_NE(WhyRefused(kAgentRequest.substr(0, kAgentRequest.size() - 2)), "accepted");
  EXPECT_NE(WhyRefused(std::string(100, '[')), "accepted");
}

TEST(BestModelsRequest, ReadsItsParameters) {
  const auto all = ReadBestModelsRequest("");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->source, "rapl-sysfs");
  EXPECT_EQ(all->output, std::nullopt);
  const auto some = ReadBestModelsRequest(
      "energy-source=acpi&output-type=DynPower&feature-group=BPFOnly&node-type=10&filter=mae%3A5&mode=x");
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_EQ(some->source, "acpi");
  EXPECT_EQ(some->output, model::OutputType::kDynPower);
  EXPECT_EQ(some->feature_group, "BPFOnly");
  EXPECT_EQ(some->node_type, 10U);
  EXPECT_THAT(some->filter, SizeIs(1));
  EXPECT_EQ(some->unknown_fields, 1U);
  for (const char* query : {"energy-source=sun", "output-type=x", "feature-group=None", "node-type=a", "node-type=-3",
                            "filter=mae", "filter=%zz"})
    EXPECT_FALSE(ReadBestModelsRequest(query)) << query;
}

TEST(Filter, ANumberThatIsNotStatedFails) {
  const Stated stated = {{"mae", 5}, {"abs_max_corr", 0.8}};
  const auto passes = [&](std::string_view text) { return Passes(ReadFilter(text).value(), stated); };
  EXPECT_TRUE(passes(""));
  EXPECT_TRUE(passes("mae:5"));
  EXPECT_TRUE(passes(" mae : 6 ; abs_max_corr:0.8;"));
  EXPECT_FALSE(passes("mae:4.9"));
  EXPECT_FALSE(passes("abs_max_corr:0.9"));
  EXPECT_FALSE(passes("mape:90"));
}

}  // namespace
}  // namespace kepler::modelserver
