#include "model_store/server_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "testing/fake_tree.h"

namespace kepler::model_store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::map<std::string, std::string, std::less<>>;

ServerEnvironment Read(const Names& names, std::string_view setting = "") {
  return ReadServerEnvironment(
      [&](std::string_view name) {
        const auto found = names.find(name);
        return found == names.end() ? std::string() : found->second;
      },
      setting);
}

std::vector<std::string> Texts(const ServerEnvironment& read) {
  std::vector<std::string> texts;
  for (const NameUse& use : read.uses) texts.push_back(use.name + (use.reason.empty() ? "" : ": " + use.reason));
  return texts;
}

TEST(ServerEnvironment, IsEmptyWithoutNames) {
  EXPECT_EQ(Read({}).server, "");
  EXPECT_THAT(Texts(Read({})), IsEmpty());
}

TEST(ServerEnvironment, IsUsedIfEnabled) {
  const auto url = Read({{"MODEL_SERVER_ENABLE", "true"}, {"MODEL_SERVER_URL", "http://models:8100"}});
  EXPECT_EQ(url.server, "http://models:8100");
  EXPECT_THAT(Texts(url), ElementsAre("MODEL_SERVER_ENABLE", "MODEL_SERVER_URL"));
  EXPECT_EQ(Read({{"MODEL_SERVER_ENABLE", "True"}, {"MODEL_SERVER_URL", "models:81"}}).server, "http://models:81");
}

TEST(ServerEnvironment, HasTheHostOfKepler07) {
  EXPECT_EQ(Read({{"MODEL_SERVER_ENABLE", "true"}}).server, "http://kepler-model-server.kepler.svc.cluster.local:8100");
  const auto port = Read({{"MODEL_SERVER_ENABLE", "true"}, {"MODEL_SERVER_PORT", "9"}});
  EXPECT_EQ(port.server, "http://kepler-model-server.kepler.svc.cluster.local:9");
  EXPECT_THAT(Texts(port), ElementsAre("MODEL_SERVER_ENABLE", "MODEL_SERVER_PORT"));
}

TEST(ServerEnvironment, StatesEachUnusedName) {
  EXPECT_THAT(Texts(Read({{"MODEL_SERVER_URL", "http://a"}})),
              ElementsAre("MODEL_SERVER_URL: MODEL_SERVER_ENABLE is not set"));
  EXPECT_THAT(Texts(Read({{"MODEL_SERVER_ENABLE", "false"}, {"MODEL_SERVER_URL", "http://a"}})),
              ElementsAre("MODEL_SERVER_URL: MODEL_SERVER_ENABLE is not true"));
  EXPECT_THAT(Texts(Read({{"MODEL_SERVER_ENABLE", "perhaps"}})),
              ElementsAre("MODEL_SERVER_ENABLE: it is neither true nor false"));
  EXPECT_THAT(Texts(Read({{"MODEL_SERVER_ENABLE", "true"},
                          {"MODEL_SERVER_URL", "http://a:1"},
                          {"MODEL_SERVER_PORT", "2"},
                          {"MODEL_SERVER_MODEL_REQ_PATH", "/model"},
                          {"MODEL_SERVER_MODEL_LIST_PATH", "/best-models"}})),
              ElementsAre("MODEL_SERVER_ENABLE", "MODEL_SERVER_URL", "MODEL_SERVER_PORT: MODEL_SERVER_URL has the port",
                          "MODEL_SERVER_MODEL_REQ_PATH: the paths of kepler-model serve are fixed",
                          "MODEL_SERVER_MODEL_LIST_PATH: the paths of kepler-model serve are fixed"));
}

TEST(ServerEnvironment, ASettingWins) {
  const auto read = Read({{"MODEL_SERVER_ENABLE", "true"}, {"MODEL_SERVER_URL", "http://a"}}, "model.server");
  EXPECT_EQ(read.server, "");
  EXPECT_THAT(Texts(read),
              ElementsAre("MODEL_SERVER_ENABLE: model.server is set", "MODEL_SERVER_URL: model.server is set"));
}

TEST(ReadOldSetting, EnvironmentThenFile) {
  kepler::testing::FakeTree tree;
  constexpr char kName[] = "KEPLER_TEST_OLD_SETTING";
  unsetenv(kName);
  EXPECT_EQ(ReadOldSetting(tree.root(), kName), "");
  tree.Write(kName, " A=1\nB=2 \n");
  EXPECT_EQ(ReadOldSetting(tree.root(), kName), "A=1\nB=2");
  setenv(kName, "of the environment", 1);
  EXPECT_EQ(ReadOldSetting(tree.root(), kName), "of the environment");
  unsetenv(kName);
  tree.Write(kName, std::string((64 << 10) + 1, 'x'));
  EXPECT_EQ(ReadOldSetting(tree.root(), kName), "") << "too large";
}

}  // namespace
}  // namespace kepler::model_store
