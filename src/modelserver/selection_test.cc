#include "modelserver/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "modelserver/model_tree.h"
#include "modelserver/store_test_util.h"

namespace kepler::modelserver {
namespace {

using ::testing::HasSubstr;

const SelectionRules kHonest = {};

struct SelectionTest : ::testing::Test {
  kepler::testing::FakeTree files;
  std::shared_ptr<const ModelIndex> index;

  SelectionTest() { testing::WriteStore(files); }

  ModelRequest Request(bool weight) {
    ModelRequest request;
    request.metrics = {"bpf_cpu_time_ms", "bpf_page_cache_hit"};
    request.weight = weight;
    return request;
  }
  Result<Selected> Select(const ModelRequest& request, const SelectionRules& rules = kHonest) {
    index = ModelTree(files.root()).Scan().value();
    return SelectModel(*index, request, rules);
  }
  std::string NameOf(const ModelRequest& request, const SelectionRules& rules = kHonest) {
    const auto selected = Select(request, rules);
    return selected ? selected->model->name : selected.error().message;
  }
  void AddArchive(const testing::ArchiveOptions& options, std::string_view dir = testing::kGroupDir) {
    files.Write(std::string(dir) + options.name + ".zip", testing::Archive(options));
  }
};

const model::MachineSpec kXeonE5 = {
    .processor = "intel_xeon_e5_2686v4", .cores = 72, .chips = 2, .memory_gib = 503, .frequency_mhz = 3000};

TEST_F(SelectionTest, TheMachineCountsBeforeTheError) {
  ModelRequest request = Request(false);
  request.machine = kXeonE5;
  const auto selected = Select(request);
  ASSERT_TRUE(selected) << selected.error().message;
  EXPECT_EQ(selected->model->name, "SGDRegressorTrainer_1");  // type 10 states a smaller error
  EXPECT_THAT(selected->reason, HasSubstr("same_machine"));
}

TEST_F(SelectionTest, AmongModelsOfOneMachineTheErrorDecides) {
  AddArchive({.name = "GradientBoostingRegressorTrainer_1", .mae = 3});
  ModelRequest request = Request(false);
  request.machine = kXeonE5;
  EXPECT_EQ(NameOf(request), "GradientBoostingRegressorTrainer_1");
  EXPECT_EQ(NameOf(request, {.policy = Policy::kUpstream}), "GradientBoostingRegressorTrainer_1");
  request.trainer_name = "SGD";
  EXPECT_EQ(NameOf(request), "SGDRegressorTrainer_1");
}

TEST_F(SelectionTest, AnUnknownMachineGetsTheMostSimilar) {
  ModelRequest request = Request(false);
  request.machine = model::MachineSpec{.processor = "amd_epyc_7713", .cores = 128, .chips = 2};
  const auto selected = Select(request);
  ASSERT_TRUE(selected) << selected.error().message;
  EXPECT_EQ(selected->model->name, "GradientBoostingRegressorTrainer_10");
  EXPECT_THAT(selected->reason, HasSubstr("most similar machine (amd_epyc_7763"));
  request.loose_node_type = false;
  EXPECT_THAT(NameOf(request), HasSubstr("cannot find model"));
  EXPECT_THAT(NameOf(request, {.policy = Policy::kUpstream}), HasSubstr("no model is of this machine"));
}

TEST_F(SelectionTest, WithoutAMachineTheTypeWithMostMembersIsTaken) {
  const auto selected = Select(Request(false));
  ASSERT_TRUE(selected) << selected.error().message;
  EXPECT_EQ(selected->model->name, "SGDRegressorTrainer_1");
  EXPECT_THAT(selected->reason, HasSubstr("no machine"));
}

TEST_F(SelectionTest, AmongModelsWithoutAMachineTheErrorDecides) {
  files.Remove("v0.7/ec2/node_type_index.json");
  for (const bool has_machine : {true, false}) {
    ModelRequest request = Request(false);
    if (has_machine) request.machine = kXeonE5;
    const auto selected = Select(request);
    ASSERT_TRUE(selected) << selected.error().message;
    EXPECT_EQ(selected->model->name, "GradientBoostingRegressorTrainer_10");
    EXPECT_THAT(selected->reason, HasSubstr("no model states its machine"));
  }
}

TEST_F(SelectionTest, UpstreamTakesTheSmallestError) {
  EXPECT_EQ(NameOf(Request(false), {.policy = Policy::kUpstream}), "GradientBoostingRegressorTrainer_10");
  EXPECT_THAT(NameOf(Request(false), {.policy = Policy::kUpstream, .error_key = "rmse"}), HasSubstr("rmse"));
}

TEST_F(SelectionTest, ANodeTypeIsANumberNotDigits) {
  for (const Policy policy : {Policy::kHonest, Policy::kUpstream}) {
    ModelRequest request = Request(false);
    request.node_type = 1;  // upstream would also take type 10
    EXPECT_EQ(NameOf(request, {.policy = policy}), "SGDRegressorTrainer_1");
    request.node_type = 4;
    EXPECT_THAT(NameOf(request, {.policy = policy}), HasSubstr("Trainer_"));
    request.loose_node_type = false;
    EXPECT_THAT(NameOf(request, {.policy = policy}), HasSubstr("no model is of node type 4"));
  }
}

TEST_F(SelectionTest, FiltersAreApplied) {
  for (const Policy policy : {Policy::kHonest, Policy::kUpstream}) {
    ModelRequest request = Request(false);
    request.filter = ReadFilter("mae:8;mape:14").value();
    EXPECT_NE(NameOf(request, {.policy = policy}), "SGDRegressorTrainer_0");
    request.filter = ReadFilter("mae:0.5").value();
    EXPECT_THAT(NameOf(request, {.policy = policy}), HasSubstr("no model passes the filter"));
  }
}

TEST_F(SelectionTest, ModelsAboveTheLimitsOfTheServerAreNotChosen) {
  const ModelRequest request = Request(false);
  for (const Policy policy : {Policy::kHonest, Policy::kUpstream}) {
    const auto name = [&](std::string_view limits) {
      return NameOf(request, {.policy = policy, .limits = ReadFilter(limits).value()});
    };
    EXPECT_EQ(name("mae:1000;core_mape:0"), NameOf(request, {.policy = policy})) << "no model has a core";
    EXPECT_THAT(name("mae:0"), HasSubstr("above the limits of this server (--max-error)"));
    EXPECT_THAT(name("nonsense:1000"), HasSubstr("or missing"));
  }
}

TEST_F(SelectionTest, AnUnknownErrorIsNotTheSmallest) {
  AddArchive({.name = "SVRRegressorTrainer_10", .mae = 1, .mape = -1});
  const ModelRequest request = Request(false);
  EXPECT_EQ(NameOf(request, {.policy = Policy::kUpstream, .error_key = "mape"}), "GradientBoostingRegressorTrainer_10");
  EXPECT_EQ(FindBestModels(*index, {}, {.error_key = "mape"})->at("AbsPower").at("BPFOnly"),
            "GradientBoostingRegressorTrainer_10");
  const auto unknown = std::ranges::find(index->models, "SVRRegressorTrainer_10", &StoredModel::name);
  ASSERT_NE(unknown, index->models.end());
  EXPECT_FALSE(IsWithin(ReadFilter("package_mape:20").value(), *unknown));
  EXPECT_TRUE(IsWithin(ReadFilter("package_mae:20").value(), *unknown));
}

TEST_F(SelectionTest, AModelIsServedOnlyForFeaturesOfTheClient) {
  ModelRequest request = Request(false);
  request.metrics = {"bpf_cpu_time_ms"};
  EXPECT_THAT(NameOf(request), HasSubstr("needs a feature"));
  request.weight = true;
  request.machine = model::MachineSpec{.processor = "amd_epyc_9654"};
  EXPECT_EQ(NameOf(request), "epyc");
}

TEST_F(SelectionTest, SourceAndOutputAreKept) {
  ModelRequest request = Request(false);
  request.source = "acpi";
  EXPECT_THAT(NameOf(request), HasSubstr("the store has no such model"));
  AddArchive({.name = "SGDRegressorTrainer_5", .component = "platform", .model_file = "platform.pkl"},
             "v0.7/spec/acpi/AbsPower/BPFOnly/");
  EXPECT_EQ(NameOf(request), "SGDRegressorTrainer_5");
  request.source = "rapl-sysfs";
  request.output = model::OutputType::kDynPower;
  EXPECT_THAT(NameOf(request), HasSubstr("the store has no such model"));
}

TEST_F(SelectionTest, ACurveIsServedOnlyToAClientThatAppliesItToItsFeature) {
  files.Remove("own");
  const std::string dir = "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/";
  files.Write(dir + "LogarithmicRegressionTrainer_1.zip",
              testing::Archive({.name = "LogarithmicRegressionTrainer_1", .mae = 2}));
  files.Write(
      dir + "LogarithmicRegressionTrainer_1.json",
      R"({"package":{"All_Weights":{"Categorical_Variables":{},"Numerical_Variables":{"bpf_cpu_time_ms":{"scale":2},)"
      R"("bpf_page_cache_hit":{"scale":1}},"CurveFit_Weights":[1,2,3]}}})");
  ModelRequest request = Request(true);
  request.machine = kXeonE5;
  EXPECT_EQ(NameOf(request), "LogarithmicRegressionTrainer_1");
  std::swap(request.metrics[0], request.metrics[1]);
  EXPECT_EQ(NameOf(request), "SGDRegressorTrainer_1");
}

TEST_F(SelectionTest, BestModelsByOutputAndGroup) {
  index = ModelTree(files.root()).Scan().value();
  const auto best = FindBestModels(*index, {}, {});
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ(best->at("AbsPower").at("BPFOnly"), "GradientBoostingRegressorTrainer_10");
  BestModelsRequest typed;
  typed.node_type = 0;
  EXPECT_EQ(FindBestModels(*index, typed, {})->at("AbsPower").at("BPFOnly"), "SGDRegressorTrainer_0");
  typed.source = "acpi";
  EXPECT_FALSE(FindBestModels(*index, typed, {}));
}

}  // namespace
}  // namespace kepler::modelserver
