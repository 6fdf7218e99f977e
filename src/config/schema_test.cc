#include "config/schema.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace kepler::config {
namespace {

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
    EXPECT_EQ(key.help.find('\n'), std::string_view::npos) << key.path;
    EXPECT_FALSE(key.help.ends_with('.')) << key.path;
  }
}

TEST(Schema, Index_FindsItsKey) { EXPECT_EQ(Keys()[KeyIndex("kube.nodeName")].path, "kube.nodeName"); }

}  // namespace
}  // namespace kepler::config
