#include "model_store/model_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "model/weights_json.h"

namespace kepler::model_store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelQuery Query(std::vector<std::string> features) {
  return {.machine = {.processor = "intel_xeon_e5_2686v4",
                      .cores = 72,
                      .chips = 2,
                      .memory_gib = 503,
                      .frequency_mhz = 3000,
                      .threads_per_core = 2},
          .features = std::move(features)};
}

constexpr char kRest[] = R"("node_type":-1,"weight":true,"trainer_name":"","filter":"",)"
                         R"("machine_spec":{"processor":"intel_xeon_e5_2686v4","cores":72,"chips":2,"memory":503,)"
                         R"("frequency":3000}})";

std::string Body(const std::string& metrics, const std::string& source) {
  return R"({"metrics":[)" + metrics + R"(],"output_type":"AbsPower","source":")" + source + "\"," + kRest;
}

TEST(OldBodies, ListTheFeatureThatNobodyMeasures) {
  const std::string bpf = R"("bpf_cpu_time_ms","bpf_page_cache_hit")";
  EXPECT_THAT(OldBodies(Query({"bpf_cpu_time_ms"})), ElementsAre(Body(bpf, "rapl-sysfs"), Body(bpf, "acpi")));
  EXPECT_EQ(OldBodies(Query({"bpf_page_cache_hit", "bpf_cpu_time_ms"})), OldBodies(Query({"bpf_cpu_time_ms"})));
}

TEST(OldBodies, AskForModelsOfCountersToo) {
  const std::string counters = R"("bpf_cpu_time_ms","cpu_cycles")";
  const std::string all = counters + R"(,"bpf_page_cache_hit")";
  EXPECT_THAT(OldBodies(Query({"bpf_cpu_time_ms", "cpu_cycles"})),
              ElementsAre(Body(all, "rapl-sysfs"), Body(counters, "rapl-sysfs"), Body(all, "acpi")));
}

TEST(OldBodies, QuoteWhatTheMachineSays) {
  ModelQuery query = Query({});
  query.machine.processor = "a\"b\n";
  EXPECT_THAT(OldBodies(query)[0], HasSubstr(R"("processor":"a\"b\n",)"));
}

/// A model of the package with this weight of the page cache.
std::shared_ptr<const model::KnownModel> Known(const std::string& page_cache, const std::string& processor) {
  auto model = model::ReadWeightsJson(
      R"({"package":{"All_Weights":{"Bias_Weight":50,"Categorical_Variables":{},"Numerical_Variables":{)"
      R"("bpf_cpu_time_ms":{"scale":2,"weight":3},"bpf_page_cache_hit":{"scale":1,"weight":)" +
          page_cache + R"(}}}},"model_name":"SGDRegressorTrainer_1","machine_spec":{"processor":")" + processor +
          R"(","cores":72,"chips":2,"memory":503,"frequency":3000},"mae":9})",
      "");
  EXPECT_TRUE(model) << model.error().message;
  return std::make_shared<const model::KnownModel>(model::KnownModel{.model = *std::move(model), .source = "here"});
}

TEST(CheckUsable, FeaturesAndMachine) {
  const ModelQuery query = Query({"bpf_cpu_time_ms"});
  const std::string mine = query.machine.processor;
  EXPECT_TRUE(CheckUsable(Known("0", mine), query));
  EXPECT_THAT(CheckUsable(Known("0.1", mine), query).error().message, HasSubstr("it needs bpf_page_cache_hit"));
  EXPECT_THAT(CheckUsable(Known("0", "amd_epyc_7763"), query).error().message,
              HasSubstr("its machine (amd_epyc_7763) is similar to this one"));
  EXPECT_TRUE(CheckUsable(Known("0.1", mine), Query({"bpf_cpu_time_ms", "bpf_page_cache_hit"})));
}

}  // namespace
}  // namespace kepler::model_store
