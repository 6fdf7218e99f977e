#include "modelserver/estimator/estimate_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kepler::modelserver::estimator {
namespace {

using ::testing::HasSubstr;

const model::MachineSpec kHere{
    .processor = "intel_xeon_e5_2686v4", .cores = 72, .chips = 2, .memory_gib = 503, .frequency_mhz = 3000};

/// 30 W and 0.5 W per unit of the first feature; dram: 4 W.
std::shared_ptr<model::KnownModel> Linear(std::string name, std::string trainer = "linear") {
  model::PowerModel model;
  model.name = std::move(name);
  model.features = {"bpf_cpu_time_ms"};
  for (const auto component : {model::Component::kPackage, model::Component::kDram}) {
    const bool is_package = component == model::Component::kPackage;
    model::ComponentModel of;
    of.component = component;
    of.trainer = trainer;
    of.predictor.formula = model::Linear{.bias = is_package ? 30.0 : 4.0, .weights = {is_package ? 0.5 : 0.0}};
    of.label = {.min = 0, .max = 1000};
    of.accuracy = model::Accuracy{.rows = 9, .mae_watts = is_package ? 2.0 : 1.0, .mape = 3, .r2 = 0.9};
    model.components.push_back(std::move(of));
  }
  model.machine = kHere;
  return std::make_shared<model::KnownModel>(model::KnownModel{.model = std::move(model), .source = "/m"});
}

EstimateRequest Request(std::vector<std::vector<double>> rows) {
  EstimateRequest request;
  request.features = {"bpf_page_cache_hit", "bpf_cpu_time_ms"};
  request.rows = std::move(rows);
  request.source = "rapl-sysfs";
  return request;
}

TEST(EstimateAnswer, HasWattsOfEachRowByComponent) {
  const model::ModelSet models = {Linear("a")};
  EXPECT_EQ(Answer(Request({{7, 0}, {7, 10}}), models, kHere),
            R"({"powers":{"package":[30,35],"dram":[4,4]},"msg":"","core_ratio":1})");
}

TEST(EstimateAnswer, NoRowsGiveNoWatts) {
  const model::ModelSet models = {Linear("a")};
  EXPECT_EQ(Answer(Request({}), models, kHere), R"({"powers":{"package":[],"dram":[]},"msg":"","core_ratio":1})");
}

TEST(EstimateAnswer, NegativeWattsAreZero) {
  const auto model = Linear("a");
  std::get<model::Linear>(model->model.components[0].predictor.formula).bias = -50;
  EXPECT_THAT(Answer(Request({{0, 10}}), {model}, kHere), HasSubstr(R"("package":[0])"));
}

TEST(EstimateAnswer, PlatformIsOfAnotherSource) {
  const auto model = Linear("a");
  model->model.components[1].component = model::Component::kPlatform;
  EstimateRequest request = Request({{0, 0}});
  EXPECT_THAT(Answer(request, {model}, kHere), HasSubstr(R"("powers":{"package":[30]})"));
  request.source = "acpi";
  EXPECT_THAT(Answer(request, {model}, kHere), HasSubstr(R"("powers":{"platform":[)"));
}

TEST(EstimateAnswer, CoreRatioIsOfTheTrainingMachine) {
  const auto model = Linear("a");
  model->model.machine->cores = 96;
  model->chosen = true;
  EXPECT_THAT(Answer(Request({{0, 0}}), {model}, kHere), HasSubstr(R"("core_ratio":0.75})"));
}

TEST(EstimateAnswer, AttributesOfTheMachineAreFeatures) {
  const auto model = Linear("a");
  model->model.features = {"cores"};
  EXPECT_THAT(Answer(Request({{0, 0}}), {model}, kHere), HasSubstr(R"("package":[66])"));  // 30 + 72 / 2
}

TEST(EstimateAnswer, SaysWhyThereIsNoModel) {
  const model::ModelSet models = {Linear("a")};
  const auto refusal = [&](const EstimateRequest& request) { return Answer(request, models, kHere); };
  EstimateRequest dynamic = Request({{0, 0}});
  dynamic.output = model::OutputType::kDynPower;
  EXPECT_EQ(refusal(dynamic),
            R"({"powers":{},"msg":"cannot find model: no model has this output_type","core_ratio":1})");
  EstimateRequest trainer = Request({{0, 0}});
  trainer.trainer_name = "Xgboost";
  EXPECT_THAT(refusal(trainer), HasSubstr("no model is of this trainer"));
  EstimateRequest filter = Request({{0, 0}});
  filter.filter = {{.key = "mae", .limit = 1.5}};
  EXPECT_THAT(refusal(filter), HasSubstr("no model passes the filter"));
  filter.filter[0].limit = 2;
  EXPECT_THAT(refusal(filter), HasSubstr("\"package\":[30]"));
  EstimateRequest features = Request({{0}});
  features.features = {"cpu_cycles"};
  EXPECT_THAT(refusal(features), HasSubstr("bpf_cpu_time_ms"));
  EXPECT_THAT(Answer(features, {}, kHere), HasSubstr("no model is loaded"));
}

TEST(EstimateAnswer, FitsOneReadOfOldClients) {
  std::vector<std::vector<double>> rows(400, {0, 1.0 / 3});
  const model::ModelSet models = {Linear("a")};
  const std::string answer = Answer(Request(rows), models, kHere);
  EXPECT_LE(answer.size(), kOldClientBytes);
  EXPECT_THAT(answer, HasSubstr("[30.167,"));
  rows.resize(3);
  EXPECT_THAT(Answer(Request(rows), models, kHere), HasSubstr("[30.16666667,"));
}

TEST(EstimateAnswer, RefusalIsOneLineOfJson) {
  EXPECT_EQ(Refusal({.kind = ErrorKind::kMalformed, .message = "a \"b\"\n"}),
            R"({"powers":{},"msg":"a \"b\"\\x0a","core_ratio":1})");
}

}  // namespace
}  // namespace kepler::modelserver::estimator
