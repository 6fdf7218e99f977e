#include "config/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace kepler::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Schema, PathsAndFlags_AreUnique) {
  std::set<std::string_view> paths;
  std::set<std::string_view> flags;
  for (const Key& key : Keys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    for (const std::string_view flag : {key.flag, key.alias}) {
      if (flag.empty()) continue;
      EXPECT_TRUE(flags.insert(flag).second) << flag;
    }
  }
}

TEST(Schema, KeysOfABlock_StandTogether) {
  std::set<std::string> left;
  std::string current;
  for (const Key& key : Keys()) {
    const std::string block(key.path.substr(0, key.path.find('.')));
    if (block == current) continue;
    EXPECT_TRUE(left.insert(block).second) << block << " is opened twice";
    current = block;
  }
}

TEST(Schema, NoPath_IsAlsoABlock) {
  for (const Key& key : Keys())
    for (const Key& other : Keys()) EXPECT_FALSE(other.path.starts_with(std::string(key.path) + ".")) << other.path;
}

TEST(Schema, EveryHelp_IsOneLineWithoutAFullStop) {
  for (const Key& key : Keys()) {
    EXPECT_FALSE(key.help.empty()) << key.path;
    EXPECT_EQ(Meaning(key).find('\n'), std::string_view::npos) << key.path;
    EXPECT_FALSE(Meaning(key).ends_with('.')) << key.path;
  }
}

TEST(Schema, KeyWithoutEffect_SaysSo) {
  EXPECT_THAT(Meaning(Keys()[KeyIndex("debug.pprof.enabled")]), HasSubstr("; not in this version: there is no Go"));
  EXPECT_THAT(Meaning(Keys()[KeyIndex("experimental.gpu.idlePower")]), HasSubstr("; not in this version: "));
  EXPECT_EQ(Meaning(Keys()[KeyIndex("kube.nodeName")]).find("not in this version"), std::string::npos);
}

TEST(Schema, ChangedValue_IsTheOneKeyThatIsNamed) {
  struct Changer {
    void operator()(bool* value) const { *value = !*value; }
    void operator()(std::string* value) const { *value += "x"; }
    void operator()(Strings* value) const { value->emplace_back("x"); }
    void operator()(Duration* value) const { *value += Duration(1); }
    void operator()(ChipRules* value) const { value->emplace_back(); }
    void operator()(int64_t* value) const { ++*value; }
    void operator()(double* value) const { ++*value; }
    void operator()(uint32_t* value) const { --*value; }
  };
  EXPECT_THAT(ChangedKeys(Config{}, Config{}), IsEmpty());
  for (const Key& key : Keys()) {
    Config changed;
    std::visit(Changer{}, key.field(changed));
    EXPECT_THAT(ChangedKeys(Config{}, changed), ElementsAre(key.path));
  }
}

TEST(Schema, SwitchedOnButMissing_IsNamed) {
  Config config;
  EXPECT_THAT(MissingFeatures(config), IsEmpty());
  config.kube.node_name = "n1";
  config.exporter.stdout_exporter.enabled = true;
  EXPECT_THAT(MissingFeatures(config), IsEmpty());
  config.debug.pprof_enabled = true;
  config.kube.enabled = true;
  config.experimental.redfish.enabled = true;
  config.experimental.gpu.enabled = true;
  EXPECT_THAT(MissingFeatures(config), ElementsAre(StartsWith("debug.pprof.enabled: "), StartsWith("kube.enabled: "),
                                                   StartsWith("experimental.platform.redfish.enabled: "),
                                                   StartsWith("experimental.gpu.enabled: ")));
}

TEST(Schema, Index_FindsItsKey) { EXPECT_EQ(Keys()[KeyIndex("kube.nodeName")].path, "kube.nodeName"); }

}  // namespace
}  // namespace kepler::config
