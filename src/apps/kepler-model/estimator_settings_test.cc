#include "apps/kepler-model/estimator_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/kepler-model/environment_test_util.h"

namespace kepler::lab::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kZip[] = "https://models.example/GradientBoostingRegressorTrainer_0.zip";

TEST(EstimatorSettings, NothingWithoutNames) {
  Estimating config;
  EXPECT_THAT(Apply(config, {}), IsEmpty());
  EXPECT_THAT(config.models, IsEmpty());
}

TEST(EstimatorSettings, InitialArchivesAreModels) {
  Estimating config;
  EXPECT_THAT(Apply(config, {{"NODE_COMPONENTS_INIT_URL", kZip}, {"NODE_TOTAL_INIT_URL", "file:///models/acpi.zip"}}),
              ElementsAre("NODE_TOTAL_INIT_URL", "NODE_COMPONENTS_INIT_URL"));
  EXPECT_THAT(config.models, ElementsAre("file:///models/acpi.zip", kZip));
}

TEST(EstimatorSettings, FlagsWin) {
  Estimating config;
  config.models = {"/models"};
  EXPECT_THAT(Apply(config, {{"NODE_TOTAL_INIT_URL", kZip}}), ElementsAre("NODE_TOTAL_INIT_URL ignored"));
  EXPECT_THAT(config.models, ElementsAre("/models"));
}

TEST(EstimatorSettings, WhatIsNoUrlIsIgnored) {
  Estimating config;
  for (const char* text : {"models.example/a.zip", "ftp://models.example/a.zip", "https://", "a"})
    EXPECT_THAT(Apply(config, {{"NODE_TOTAL_INIT_URL", text}}), ElementsAre("NODE_TOTAL_INIT_URL ignored")) << text;
  EXPECT_THAT(config.models, IsEmpty());
}

TEST(EstimatorSettings, LinesOfModelConfigAreNames) {
  Estimating config;
  const std::string lines = std::string("# models\nNODE_COMPONENTS_ESTIMATOR=true\n NODE_COMPONENTS_INIT_URL = ") +
                            kZip + "\nMODEL_SERVER_ENABLE=true\nMODEL_SERVER_URL=http://models:8100\nno line\n";
  EXPECT_THAT(Apply(config, {{"MODEL_CONFIG", lines}, {"NODE_COMPONENTS_INIT_URL", "https://other/b.zip"}}),
              ElementsAre("NODE_COMPONENTS_INIT_URL", "MODEL_SERVER_ENABLE", "MODEL_SERVER_URL",
                          "MODEL_CONFIG: NODE_COMPONENTS_ESTIMATOR ignored"));
  EXPECT_THAT(config.models, ElementsAre(kZip));
  EXPECT_EQ(config.server, "http://models:8100");
}

TEST(EstimatorSettings, UnusedNamesAreStated) {
  Estimating config;
  EXPECT_THAT(Apply(config, {{"MODEL_PATH", "/mnt/models"}, {"PROCESS_TOTAL_INIT_URL", kZip}, {"MODEL_TOPURL", "x"}}),
              ElementsAre("MODEL_PATH ignored", "MODEL_TOPURL ignored", "PROCESS_TOTAL_INIT_URL ignored"));
}

TEST(EstimatorSettings, ModeIsOctal) {
  EXPECT_EQ(ModeOf("0660"), 0660U);
  for (const char* text : {"", "8", "1000", "66o", "99999999999"}) EXPECT_EQ(ModeOf(text), std::nullopt) << text;
}

}  // namespace
}  // namespace kepler::lab::tool
