#include "apps/kepler-model/serve_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "apps/kepler-model/environment_test_util.h"
#include "testing/fake_tree.h"

namespace kepler::lab::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ServeSettings, DefaultsWithoutAnyName) {
  Serving config;
  EXPECT_THAT(Apply(config, {}), IsEmpty());
  EXPECT_THAT(config.listen, ElementsAre(":8100"));
  EXPECT_EQ(config.error_key, "mae");
  EXPECT_EQ(config.store, "");
}

TEST(ServeSettings, NamesOfUpstreamFillWhatNoFlagSets) {
  Serving config;
  EXPECT_THAT(Apply(config, {{"MODEL_PATH", "/mnt/models"}, {"ERROR_KEY", "mape"}, {"MODEL_SERVER_PORT", "9100"}}),
              ElementsAre("MODEL_PATH", "ERROR_KEY", "MODEL_SERVER_PORT"));
  EXPECT_EQ(config.store, "/mnt/models");
  EXPECT_EQ(config.error_key, "mape");
  EXPECT_THAT(config.listen, ElementsAre(":9100"));
}

TEST(ServeSettings, FlagsWin) {
  Serving config{.store = "/store", .listen = {":1"}, .web_config_file = "", .error_key = "package_mae"};
  EXPECT_THAT(Apply(config, {{"MODEL_PATH", "/mnt/models"}, {"ERROR_KEY", "mape"}, {"MODEL_SERVER_PORT", "9100"}}),
              ElementsAre("MODEL_PATH ignored", "ERROR_KEY ignored", "MODEL_SERVER_PORT ignored"));
  EXPECT_EQ(config.store, "/store");
  EXPECT_THAT(config.listen, ElementsAre(":1"));
}

TEST(ServeSettings, EachUnusedNameIsStated) {
  Serving config;
  EXPECT_THAT(Apply(config, {{"MODEL_TOPURL", "https://example.com/models"},
                             {"INITIAL_PIPELINE_URL", "https://example.com/a.zip"},
                             {"MODEL_SERVER_URL", "http://x"}}),
              ElementsAre("MODEL_TOPURL ignored", "INITIAL_PIPELINE_URL ignored", "MODEL_SERVER_URL ignored"));
  EXPECT_EQ(config.store, "");
  EXPECT_THAT(Apply(config, {{"MODEL_TOPURL", "file:///models/v0.7"}}), ElementsAre("MODEL_TOPURL"));
  EXPECT_EQ(config.store, "/models/v0.7");
}

TEST(ServeSettings, AFileOfANameWinsOverTheEnvironment) {
  const testing::FakeTree files;
  ASSERT_EQ(setenv("KEPLER_TEST_NAME", " from environment ", 1), 0);
  EXPECT_EQ(EnvironmentOf(files.root(), "KEPLER_TEST_NAME"), "from environment");
  testing::FakeTree named;
  named.Write("KEPLER_TEST_NAME", "from file\n");
  EXPECT_EQ(EnvironmentOf(named.root(), "KEPLER_TEST_NAME"), "from file");
  EXPECT_EQ(EnvironmentOf(named.root(), "KEPLER_TEST_OTHER"), "");
  unsetenv("KEPLER_TEST_NAME");
}

}  // namespace
}  // namespace kepler::lab::tool
