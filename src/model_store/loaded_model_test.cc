#include "model_store/loaded_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/any_json.h"
#include "model/sha256.h"
#include "model_store/model_text_test_util.h"

namespace kepler::model_store {
namespace {

using ::testing::HasSubstr;

TEST(LoadedModel, NewerAndEqualVersionsAreTaken_OlderOnesAreNot) {
  TextBudget budget;
  LoadedModel loaded(budget);
  EXPECT_EQ(loaded.Take({.text = ModelText("a", 2)}), true);
  EXPECT_EQ(loaded.Take({.text = ModelText("a", 2)}), false) << "the same";
  const auto older = loaded.Take({.text = ModelText("a", 1)});
  ASSERT_FALSE(older);
  EXPECT_THAT(older.error().message, HasSubstr("version 1 of a is older than version 2"));
  EXPECT_EQ(loaded.known()->model.version, 2u);
  EXPECT_EQ(loaded.Take({.text = ModelText("a", 2) + " "}), true) << "the same version, rewritten";
  EXPECT_EQ(loaded.Take({.text = ModelText("a", 3)}), true);
  EXPECT_EQ(loaded.Take({.text = ModelText("b", 1)}), true) << "another model";
}

TEST(LoadedModel, WhatIsNoModel_ChangesNothing) {
  TextBudget budget;
  LoadedModel loaded(budget);
  ASSERT_TRUE(loaded.Take({.text = ModelText("a")}));
  const std::string sha256 = loaded.sha256();
  const std::string cut = ModelText("b").substr(0, 50);
  for (const std::string& text :
       {std::string(), std::string("{}"), cut, std::string("<html>"), std::string(R"({"package": NaN})")}) {
    const auto taken = loaded.Take({.text = text});
    ASSERT_FALSE(taken) << text;
    EXPECT_EQ(taken.error().kind, ErrorKind::kMalformed);
  }
  EXPECT_THAT(loaded.Take({.text = "PK\x03\x04..."}).error().message, HasSubstr("kepler-model import"));
  EXPECT_EQ(loaded.known()->model.name, "a");
  EXPECT_EQ(loaded.sha256(), sha256);
}

TEST(LoadedModel, ArchivesAreRead_IfThereIsAReader) {
  TextBudget budget;
  LoadedModel loaded(budget);
  const ReadArchive reader = [](std::string_view bytes) -> Result<model::PowerModel> {
    if (bytes != "PK good") return Fail(ErrorKind::kMalformed, "member 'x': bad");
    return model::ReadAnyModelJson(ModelText("packed"), {});
  };
  EXPECT_THAT(loaded.Take({.text = "PK", .read_archive = &reader}).error().message, HasSubstr("member 'x': bad"));
  const auto other = loaded.Take({.text = "PK good", .output = model::OutputType::kDynPower, .read_archive = &reader});
  EXPECT_THAT(other.error().message, HasSubstr("the archive states that its watts are AbsPower"));
  EXPECT_FALSE(loaded.known());
  EXPECT_EQ(loaded.Take({.text = "PK good", .read_archive = &reader}), true);
  EXPECT_EQ(loaded.known()->model.name, "packed");
}

TEST(LoadedModel, Checksum) {
  TextBudget budget;
  LoadedModel loaded(budget);
  const std::string text = ModelText("a");
  const std::string other(64, '0');
  const auto refused = loaded.Take({.text = text, .sha256 = other});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("its SHA-256 is " + model::Sha256(text) + ", expected " + other));
  EXPECT_FALSE(loaded.known());
  EXPECT_EQ(loaded.Take({.text = text, .sha256 = model::Sha256(text)}), true);
}

TEST(LoadedModel, Limits_OfOneAndOfAll) {
  const std::string text = ModelText("a");
  TextBudget budget({.model = text.size(), .all = 2 * text.size()});
  LoadedModel one(budget);
  EXPECT_THAT(one.Take({.text = text + ' '}).error().message,
              HasSubstr("the maximum for a model is " + std::to_string(text.size()) + " bytes"));
  ASSERT_TRUE(one.Take({.text = text}));
  LoadedModel two(budget);
  {
    LoadedModel other(budget);
    ASSERT_TRUE(other.Take({.text = text}));
    const auto full = two.Take({.text = ModelText("c")});
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().kind, ErrorKind::kUnavailable);
    EXPECT_THAT(full.error().message, HasSubstr("the maximum in all is " + std::to_string(2 * text.size()) + " bytes"));
    EXPECT_FALSE(two.known());
    EXPECT_EQ(one.Take({.text = ModelText("b")}), true) << "in place of its own";
  }
  EXPECT_EQ(two.Take({.text = ModelText("c")}), true) << "there is room again";
}

TEST(LoadedModel, WeightFiles_AreWhatTheirNameSays) {
  constexpr std::string_view kWeights =
      R"({"platform":{"All_Weights":{"Numerical_Variables":{"bpf_cpu_time_ms":{"scale":10}},"CurveFit_Weights":[1,2,3,4]}}})";
  TextBudget budget;
  LoadedModel loaded(budget);
  EXPECT_FALSE(loaded.Take({.text = kWeights, .name = "SGDRegressorTrainer_0"}));
  EXPECT_EQ(loaded.Take({.text = kWeights, .name = "LogisticRegressionTrainer_0", .source = "x", .chosen = true}),
            true);
  EXPECT_EQ(loaded.known()->source, "x");
  EXPECT_TRUE(loaded.known()->chosen);
}

TEST(LoadedModel, OwnFiles_SayTheirPowerThemselves) {
  using model::OutputType;
  TextBudget budget;
  LoadedModel loaded(budget);
  const std::string text = ModelText("a");
  EXPECT_THAT(loaded.Take({.text = text, .output = OutputType::kDynPower}).error().message,
              HasSubstr("its watts are AbsPower"));
  EXPECT_EQ(loaded.Take({.text = text, .output_otherwise = OutputType::kDynPower}), true);
  EXPECT_EQ(loaded.known()->model.output, OutputType::kAbsPower);
}

}  // namespace
}  // namespace kepler::model_store
