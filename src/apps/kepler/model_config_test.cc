#include "apps/kepler/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(ReadModelConfig, NodeModels_BecomePlaces) {
  const auto config = ReadModelConfig(
      "NODE_TOTAL_INIT_URL=https://h/acpi.json?a=b&c=d\n"
      "NODE_COMPONENTS_INIT_URL=/models/rapl.json\tNODE_COMPONENTS_TRAINER=LogisticRegressionTrainer");
  EXPECT_THAT(config.warnings, IsEmpty());
  ASSERT_THAT(config.places, SizeIs(2));
  EXPECT_EQ(config.places[0].url->target, "/acpi.json?a=b&c=d");
  EXPECT_EQ(config.places[0].name, "acpi");
  EXPECT_EQ(config.places[1].path, "/models/rapl.json");
  EXPECT_EQ(config.places[1].name, "LogisticRegressionTrainer_0");
}

TEST(ReadModelConfig, Nothing) {
  for (const char* text : {"", " \n\t ", "# NODE_TOTAL_INIT_URL=/a.json\n", "NODE_TOTAL_INIT_URL=",
                           "NODE_TOTAL_ESTIMATOR=false\r\nNODE_COMPONENTS_LOCAL_REGRESSOR=False"}) {
    const auto config = ReadModelConfig(text);
    EXPECT_THAT(config.places, IsEmpty()) << text;
    EXPECT_THAT(config.warnings, IsEmpty()) << text;
  }
}

TEST(ReadModelConfig, WhatIsNotDone_SaysWhatToDoInstead) {
  const auto config = ReadModelConfig(
      "NODE_TOTAL_ESTIMATOR=true NODE_TOTAL_LOCAL_REGRESSOR=true NODE_TOTAL_FILTERS=mae:0.5 "
      "NODE_COMPONENTS_TRAINER=SGDRegressorTrainer PROCESS_TOTAL_ESTIMATOR=false CONTAINER_TOTAL_INIT_URL=/a.json");
  EXPECT_THAT(config.places, IsEmpty());
  EXPECT_THAT(config.warnings,
              ElementsAre(AllOf(HasSubstr("CONTAINER_TOTAL_INIT_URL"), HasSubstr("remove it")),
                          AllOf(HasSubstr("NODE_COMPONENTS_TRAINER"), HasSubstr("without NODE_COMPONENTS_INIT_URL")),
                          AllOf(HasSubstr("NODE_TOTAL_ESTIMATOR"), HasSubstr("kepler-model import")),
                          AllOf(HasSubstr("NODE_TOTAL_FILTERS"), HasSubstr("lowest error")),
                          AllOf(HasSubstr("NODE_TOTAL_LOCAL_REGRESSOR"), HasSubstr("model.sources")),
                          AllOf(HasSubstr("PROCESS_TOTAL_ESTIMATOR"), HasSubstr("remove it"))));
}

TEST(ReadModelConfig, OfManyWarnings_TheFirst) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "KEY_" + std::to_string(i) + "=1 ";
  const auto config = ReadModelConfig(text);
  ASSERT_THAT(config.warnings, SizeIs(21));
  EXPECT_THAT(config.warnings.front(), HasSubstr("KEY_0"));
  EXPECT_THAT(config.warnings.back(), HasSubstr("980 more warnings"));
}

TEST(ReadModelConfig, WhatIsWrong_IsSaidWithoutItsValue) {
  const auto config = ReadModelConfig(
      "s3cret =s3cret NODE_TOTAL_INIT_URLS=s3cret NODE_TOTAL_INIT_URL=/s3cret "
      "NODE_TOTAL_INIT_URL=https://me:s3cret@h/ POD_TOTAL_ESTIMATOR=true");
  EXPECT_THAT(config.places, IsEmpty());
  EXPECT_THAT(config.warnings, ElementsAre(HasSubstr("not KEY=VALUE"), HasSubstr("not KEY=VALUE"),
                                           HasSubstr("did you mean NODE_TOTAL_INIT_URL?"), HasSubstr("twice"),
                                           HasSubstr("POD_TOTAL_ESTIMATOR"), HasSubstr("user name or password")));
  EXPECT_THAT(config.warnings, Not(::testing::Contains(HasSubstr("s3cret"))));
}

}  // namespace
}  // namespace kepler::agent
