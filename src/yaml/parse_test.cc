#include "config/yaml_tree.h"

#include <gtest/gtest.h>

#include <string>

namespace kepler::config {
namespace {

using Kind = YamlNode::Kind;

YamlNode Read(const std::string& text) {
  auto node = ReadYaml(text);
  EXPECT_TRUE(node) << (node ? "" : node.error().message);
  return node ? *std::move(node) : YamlNode{};
}

YamlError ReadError(const std::string& text) {
  const auto node = ReadYaml(text);
  EXPECT_FALSE(node) << text;
  return node ? YamlError{} : node.error();
}

const YamlNode* Find(const YamlNode& map, std::string_view name) {
  for (size_t i = 0; i < map.keys.size(); ++i)
    if (map.keys[i].text == name) return &map.items[i];
  return nullptr;
}

TEST(ReadYaml, NoDocument_NullNode) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "--- \n...\n", "~"})
    EXPECT_EQ(Read(text).kind, Kind::kNull) << text;
}

TEST(ReadYaml, NestedBlocks_KeepOrderLinesAndQuotes) {
  const YamlNode root = Read("a: 1\nb:\n  c: \"2\"\n  d: [x, 'y']\n");
  ASSERT_EQ(root.keys.size(), 2U);
  EXPECT_EQ(root.keys[1].text, "b");
  EXPECT_EQ(root.keys[1].line, 2);
  EXPECT_FALSE(root.items[0].quoted);
  const YamlNode& b = root.items[1];
  EXPECT_TRUE(b.items[0].quoted);
  EXPECT_EQ(b.items[1].kind, Kind::kList);
  EXPECT_EQ(b.items[1].items[1].text, "y");
  EXPECT_EQ(b.items[1].items[1].line, 4);
}

TEST(ReadYaml, CrLfAndBom_AreNotPartOfTheText) {
  const YamlNode root = Read("\xEF\xBB\xBFlog:\r\n  level: warn\r\n");
  ASSERT_EQ(root.keys.size(), 1U);
  EXPECT_EQ(root.keys[0].text, "log");
  EXPECT_EQ(root.items[0].items[0].text, "warn");
  EXPECT_EQ(root.items[0].keys[0].line, 2);
}

TEST(ReadYaml, OtherEncodings_AreRefusedWithTheLine) {
  const YamlError error = ReadError("a: 1\nb: caf\xE9\n");
  EXPECT_EQ(error.line, 2);
  EXPECT_NE(error.message.find("not UTF-8"), std::string::npos) << error.message;
  const std::string utf16 = {'\xFF', '\xFE', 'a', '\0', ':', '\0'};
  EXPECT_EQ(ReadError(utf16).line, 1);
  EXPECT_EQ(Read("b: caf\u00E9\n").items[0].text, "caf\u00E9");
}

TEST(ReadYaml, ControlCharacters_AreRefusedWithTheLine) {
  for (const char control : {'\0', '\x04', '\x1B', '\x7F'}) {
    const YamlError error = ReadError(std::string("a: 1\nb: x") + control + "_y\nc: 2\n");
    EXPECT_EQ(error.line, 2);
    EXPECT_NE(error.message.find("control character \\x"), std::string::npos) << error.message;
  }
  EXPECT_EQ(Read("b: \"x\\x04\\ty\"\n").items[0].text, "x\x04\ty");  // escapes are text
}

TEST(ReadYaml, TabIndentation_ErrorNamesTheTabAndTheLine) {
  const YamlError error = ReadError("a: 1\nmonitor:\n\tinterval: 5s\n");
  EXPECT_EQ(error.line, 3);
  EXPECT_NE(error.message.find("tab"), std::string::npos) << error.message;
}

TEST(ReadYaml, BrokenSyntax_ErrorHasTheLine) {
  EXPECT_EQ(ReadError("a: 1\nb: c: d\n").line, 2);
  EXPECT_GT(ReadError("a: [1, 2\n").line, 0);
  EXPECT_EQ(ReadError("a: \"open\nb: c\n").line, 2);
}

TEST(ReadYaml, DuplicateKey_ErrorNamesBothLines) {
  const YamlError error = ReadError("log:\n  level: info\n  format: text\n  level: debug\n");
  EXPECT_EQ(error.line, 4);
  EXPECT_NE(error.message.find("level is given twice, first in line 2"), std::string::npos) << error.message;
}

TEST(ReadYaml, SameKeyInTwoBlocks_IsFine) { EXPECT_EQ(Read("a: {x: 1}\nb: {x: 2}\n").keys.size(), 2U); }

TEST(ReadYaml, SecondDocument_IsAnError) {
  const YamlError error = ReadError("a: 1\n---\nb: 2\n");
  EXPECT_EQ(error.line, 3);
  EXPECT_NE(error.message.find("second document"), std::string::npos) << error.message;
}

TEST(ReadYaml, SeparatorsWithNothingBehind_AreFine) { EXPECT_EQ(Read("---\na: 1\n---\n").keys.size(), 1U); }

TEST(ReadYaml, KeyThatIsNoText_IsAnError) {
  EXPECT_EQ(ReadError("? [a, b]\n: 1\n").line, 1);
  EXPECT_EQ(ReadError("a: 1\n~: 1\n").line, 2);
}

TEST(ReadYaml, AnchorsAndAliases_AreWrittenOut) {
  const YamlNode root = Read("a: &list [x, y]\nb: *list\n");
  EXPECT_EQ(Find(root, "b")->items.size(), 2U);
}

TEST(ReadYaml, AliasInsideItsOwnBlock_IsAnError) { EXPECT_EQ(ReadError("a: &a\n  b: *a\n").line, 2); }

TEST(ReadYaml, UnknownAlias_IsAnError) { EXPECT_EQ(ReadError("a: *nobody\n").line, 1); }

TEST(ReadYaml, MergeKey_AddsWhatTheBlockDoesNotHave) {
  const YamlNode root = Read("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n");
  const YamlNode* use = Find(root, "use");
  ASSERT_EQ(use->keys.size(), 2U);
  EXPECT_EQ(Find(*use, "x")->text, "1");
  EXPECT_EQ(Find(*use, "y")->text, "3");
}

TEST(ReadYaml, MergeKeyWithAText_IsAnError) { EXPECT_EQ(ReadError("a:\n  <<: text\n").line, 2); }

TEST(ReadYaml, MergeKeyWithAList_FirstWins) {
  const YamlNode root = Read("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}\n");
  EXPECT_EQ(Find(*Find(root, "c"), "x")->text, "1");
  EXPECT_EQ(Find(*Find(root, "c"), "y")->text, "2");
}

TEST(ReadYaml, AliasBomb_IsRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_NE(ReadError(text).message.find("more than 10000 values"), std::string::npos);
}

TEST(ReadYaml, TooManyValues_AreRefused) {
  std::string text = "a:\n";
  for (size_t i = 0; i < kMostYamlNodes; ++i) text += "- x\n";
  EXPECT_NE(ReadError(text).message.find("more than 10000 values"), std::string::npos);
}

TEST(ReadYaml, TooDeep_IsRefused) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(Read(nested(kMostYamlDepth)).kind, Kind::kList);
  EXPECT_NE(ReadError(nested(kMostYamlDepth + 1)).message.find("levels deep"), std::string::npos);
  EXPECT_NE(ReadError(nested(5000)).message.find("levels deep"), std::string::npos);
}

TEST(ReadYaml, AliasesThatNestTooDeep_AreRefused) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 80; ++i)
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  EXPECT_NE(ReadError(text).message.find("levels deep"), std::string::npos);
}

TEST(ReadYaml, TooLarge_IsRefused) {
  EXPECT_NE(ReadError(std::string(kMostYamlBytes + 1, '#')).message.find("larger than"), std::string::npos);
}

}  // namespace
}  // namespace kepler::config
