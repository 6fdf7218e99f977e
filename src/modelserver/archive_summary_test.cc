#include "modelserver/archive_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/weights_json.h"
#include "modelserver/store_test_util.h"

namespace kepler::modelserver {
namespace {

using testing::Archive;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ArchiveSummary, StatesWhatAChoiceNeeds) {
  const auto summary = ReadArchiveSummary(Archive({.name = "XgboostFitTrainer_3", .mae = 4}));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->name, "XgboostFitTrainer_3");
  EXPECT_EQ(summary->model_class, "scikit");
  EXPECT_THAT(summary->features, ElementsAre("bpf_cpu_time_ms", "bpf_page_cache_hit"));
  EXPECT_EQ(summary->stated.at("mae"), 4);
  ASSERT_EQ(summary->outline.components.size(), 1U);
  EXPECT_EQ(summary->outline.components[0].accuracy->mape, 8);
  EXPECT_TRUE(model::Counts(summary->outline.components[0].predictor, 1));
}

TEST(ArchiveSummary, KeepsTheOldSpellingOfFeatures) {
  const auto summary = ReadArchiveSummary(Archive({.features = R"(["bpf_cpu_time_us"])"}));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(summary->features, ElementsAre("bpf_cpu_time_us"));
  EXPECT_THAT(summary->outline.features, ElementsAre("bpf_cpu_time_ms"));
}

TEST(ArchiveSummary, RefusesAnArchiveThatIsIncomplete) {
  const auto refused = [](std::string_view bytes) {
    const auto summary = ReadArchiveSummary(bytes);
    return summary ? std::string("accepted") : summary.error().message;
  };
  EXPECT_THAT(refused(Archive({.model_file = "absent.pkl"})), HasSubstr("absent.pkl"));
  EXPECT_THAT(refused(Archive({.output = "AbsWatts"})), HasSubstr("output_type"));
  EXPECT_THAT(refused(Archive({.features = "[]"})), HasSubstr("features"));
  EXPECT_THAT(refused(Archive({.features = "7"})), HasSubstr("features"));
  const std::string whole = Archive({});
  EXPECT_NE(refused(std::string_view(whole).substr(0, whole.size() / 2)), "accepted");
  EXPECT_NE(refused(""), "accepted");
  const std::vector<lab::files::Member> empty = {{"readme", "nothing"}};
  EXPECT_THAT(refused(lab::files::WriteArchive(empty).value()), HasSubstr("metadata.json"));
}

TEST(CompleteWeights, AddsOnlyKeysThatAreMissing) {
  const model::MachineSpec machine{.processor = "p", .cores = 4, .chips = 1, .memory_gib = 8, .frequency_mhz = 2000};
  const std::string text = testing::Weights(7);
  const auto complete = CompleteWeights(text, "SGDRegressorTrainer_0", machine, 1.5);
  ASSERT_TRUE(complete);
  EXPECT_EQ(*complete, R"({"model_name":"SGDRegressorTrainer_0","machine_spec":{"processor":"p","cores":4,"chips":1,)"
                       R"("memory":8,"frequency":2000},"mae":1.5,)" +
                           text.substr(1));
  EXPECT_EQ(CompleteWeights(*complete, "other", std::nullopt, 9).value(), *complete);
  const auto read = model::ReadWeightsJson(*complete, "");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->machine->cores, 4U);
  EXPECT_THAT(CompleteWeights("{}", "a", std::nullopt, std::nullopt).value(), StartsWith(R"({"model_name":"a"})"));
  EXPECT_FALSE(CompleteWeights("[1]", "a", std::nullopt, std::nullopt));
  EXPECT_FALSE(CompleteWeights(R"({"package":)", "a", std::nullopt, std::nullopt));
}

TEST(StatedErrors, LeaveOutAnUnknownMape) {
  model::PowerModel model;
  model.components.push_back(
      {.trainer = "linear", .predictor = {}, .label = {}, .accuracy = model::Accuracy{.mae_watts = 2}});
  EXPECT_EQ(StatedErrors(model), (Stated{{"mae", 2}, {"package_mae", 2}}));
  model.components.front().accuracy->mape = 3;
  EXPECT_EQ(StatedErrors(model), (Stated{{"mae", 2}, {"mape", 3}, {"package_mae", 2}, {"package_mape", 3}}));
}

TEST(TypeOfName, IsTheNumberAtTheEnd) {
  EXPECT_EQ(TypeOfName("SGDRegressorTrainer_10"), 10U);
  EXPECT_EQ(TypeOfName("SGDRegressorTrainer"), std::nullopt);
  EXPECT_EQ(TypeOfName("SGDRegressorTrainer_1x"), std::nullopt);
}

}  // namespace
}  // namespace kepler::modelserver
