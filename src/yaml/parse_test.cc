#include <gtest/gtest.h>

#include <string>

#include "yaml/value.h"

namespace kepler::yaml {
namespace {

using Kind = Value::Kind;

Value Read(const std::string& text) {
  auto node = Parse(text);
  EXPECT_TRUE(node) << (node ? "" : node.error().message);
  return node ? *std::move(node) : Value{};
}

SyntaxError ReadError(const std::string& text) {
  const auto node = Parse(text);
  EXPECT_FALSE(node) << text;
  return node ? SyntaxError{} : node.error();
}

const Value* Find(const Value& map, std::string_view name) {
  for (size_t i = 0; i < map.keys.size(); ++i)
    if (map.keys[i].text == name) return &map.items[i];
  return nullptr;
}

TEST(ParseYaml, NoDocument_NullNode) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "--- \n...\n", "~"})
    EXPECT_EQ(Read(text).kind, Kind::kNull) << text;
}

TEST(ParseYaml, NestedBlocks_KeepOrderLinesAndQuotes) {
  const Value root = Read("a: 1\nb:\n  c: \"2\"\n  d: [x, 'y']\n");
  ASSERT_EQ(root.keys.size(), 2U);
  EXPECT_EQ(root.keys[1].text, "b");
  EXPECT_EQ(root.keys[1].line, 2);
  EXPECT_FALSE(root.items[0].quoted);
  const Value& b = root.items[1];
  EXPECT_TRUE(b.items[0].quoted);
  EXPECT_EQ(b.items[1].kind, Kind::kList);
  EXPECT_EQ(b.items[1].items[1].text, "y");
  EXPECT_EQ(b.items[1].items[1].line, 4);
}

TEST(ParseYaml, CrLfAndBom_AreNotPartOfTheText) {
  const Value root = Read("\xEF\xBB\xBFlog:\r\n  level: warn\r\n");
  ASSERT_EQ(root.keys.size(), 1U);
  EXPECT_EQ(root.keys[0].text, "log");
  EXPECT_EQ(root.items[0].items[0].text, "warn");
  EXPECT_EQ(root.items[0].keys[0].line, 2);
}

TEST(ParseYaml, OtherEncodings_AreRefusedWithTheLine) {
  const SyntaxError error = ReadError("a: 1\nb: caf\xE9\n");
  EXPECT_EQ(error.line, 2);
  EXPECT_NE(error.message.find("not UTF-8"), std::string::npos) << error.message;
  const std::string utf16 = {'\xFF', '\xFE', 'a', '\0', ':', '\0'};
  EXPECT_EQ(ReadError(utf16).line, 1);
  EXPECT_EQ(Read("b: caf\u00E9\n").items[0].text, "caf\u00E9");
}

TEST(ParseYaml, ControlCharacters_AreRefusedWithTheLine) {
  for (const char control : {'\0', '\x04', '\x1B', '\x7F'}) {
    const SyntaxError error = ReadError(std::string("a: 1\nb: x") + control + "_y\nc: 2\n");
    EXPECT_EQ(error.line, 2);
    EXPECT_NE(error.message.find("control character \\x"), std::string::npos) << error.message;
  }
  EXPECT_EQ(Read("b: \"x\\x04\\ty\"\n").items[0].text, "x\x04\ty");  // escapes are text
}

TEST(ParseYaml, EscapesThatGiveNoUtf8_AreRefusedWithTheLine) {
  for (const char* text : {"a: 1\nb: \"x\\_y\"\n", "a: 1\n\"b\\N\": 2\n"}) EXPECT_EQ(ReadError(text).line, 2) << text;
  EXPECT_EQ(Read("b: \"\\xA0\\u0085\"\n").items[0].text, "\u00A0\xC2\x85");
}

TEST(ParseYaml, TabIndentation_ErrorNamesTheTabAndTheLine) {
  const SyntaxError error = ReadError("a: 1\nmonitor:\n\tinterval: 5s\n");
  EXPECT_EQ(error.line, 3);
  EXPECT_NE(error.message.find("tab"), std::string::npos) << error.message;
}

TEST(ParseYaml, BrokenSyntax_ErrorHasTheLine) {
  EXPECT_EQ(ReadError("a: 1\nb: c: d\n").line, 2);
  EXPECT_GT(ReadError("a: [1, 2\n").line, 0);
  EXPECT_EQ(ReadError("a: \"open\nb: c\n").line, 2);
}

TEST(ParseYaml, DuplicateKey_ErrorNamesBothLines) {
  const SyntaxError error = ReadError("log:\n  level: info\n  format: text\n  level: debug\n");
  EXPECT_EQ(error.line, 4);
  EXPECT_NE(error.message.find("level is given twice, first in line 2"), std::string::npos) << error.message;
}

TEST(ParseYaml, SameKeyInTwoBlocks_IsFine) { EXPECT_EQ(Read("a: {x: 1}\nb: {x: 2}\n").keys.size(), 2U); }

TEST(ParseYaml, SecondDocument_IsAnError) {
  const SyntaxError error = ReadError("a: 1\n---\nb: 2\n");
  EXPECT_EQ(error.line, 3);
  EXPECT_NE(error.message.find("second document"), std::string::npos) << error.message;
}

TEST(ParseYaml, SeparatorsWithNothingBehind_AreFine) { EXPECT_EQ(Read("---\na: 1\n---\n").keys.size(), 1U); }

TEST(ParseYaml, TextThatTheScannerDoesNotPass_IsAnError) {
  for (const char* text : {",", ",ate: 1}\nP\n", "]"}) EXPECT_EQ(ReadError(text).line, 1) << text;
}

TEST(ParseYaml, KeyThatIsNoText_IsAnError) {
  EXPECT_EQ(ReadError("? [a, b]\n: 1\n").line, 1);
  EXPECT_EQ(ReadError("a: 1\n~: 1\n").line, 2);
}

TEST(ParseYaml, AnchorsAndAliases_AreWrittenOut) {
  const Value root = Read("a: &list [x, y]\nb: *list\n");
  EXPECT_EQ(Find(root, "b")->items.size(), 2U);
}

TEST(ParseYaml, AliasInsideItsOwnBlock_IsAnError) { EXPECT_EQ(ReadError("a: &a\n  b: *a\n").line, 2); }

TEST(ParseYaml, UnknownAlias_IsAnError) { EXPECT_EQ(ReadError("a: *nobody\n").line, 1); }

TEST(ParseYaml, MergeKey_AddsWhatTheBlockDoesNotHave) {
  const Value root = Read("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n");
  const Value* use = Find(root, "use");
  ASSERT_EQ(use->keys.size(), 2U);
  EXPECT_EQ(Find(*use, "x")->text, "1");
  EXPECT_EQ(Find(*use, "y")->text, "3");
}

TEST(ParseYaml, MergeKeyWithAText_IsAnError) { EXPECT_EQ(ReadError("a:\n  <<: text\n").line, 2); }

TEST(ParseYaml, MergeKeyWithAList_FirstWins) {
  const Value root = Read("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}\n");
  EXPECT_EQ(Find(*Find(root, "c"), "x")->text, "1");
  EXPECT_EQ(Find(*Find(root, "c"), "y")->text, "2");
}

TEST(ParseYaml, AliasBomb_IsRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_NE(ReadError(text).message.find("more than 10000 keys and values"), std::string::npos);
}

TEST(ParseYaml, TooManyValues_AreRefused) {
  std::string text = "a:\n";
  for (size_t i = 0; i < kMaxValues; ++i) text += "- x\n";
  EXPECT_NE(ReadError(text).message.find("more than 10000 keys and values"), std::string::npos);
}

TEST(ParseYaml, Keys_CountAsValuesDo) {
  const auto block = [](size_t keys) {
    std::string text;
    for (size_t i = 0; i < keys; ++i) text += "k" + std::to_string(i) + ": 1\n";
    return text;
  };
  constexpr size_t kMaxKeys = (kMaxValues - 1) / 2;  // the block is one too
  EXPECT_EQ(Read(block(kMaxKeys)).keys.size(), kMaxKeys);
  EXPECT_NE(ReadError(block(kMaxKeys + 1)).message.find("more than 10000 keys and values"), std::string::npos);
}

TEST(ParseYaml, TooDeep_IsRefused) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(Read(nested(kMaxDepth)).kind, Kind::kList);
  EXPECT_NE(ReadError(nested(kMaxDepth + 1)).message.find("levels deep"), std::string::npos);
  EXPECT_NE(ReadError(nested(5000)).message.find("levels deep"), std::string::npos);
}

TEST(ParseYaml, AliasesThatNestTooDeep_AreRefused) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 80; ++i)
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  EXPECT_NE(ReadError(text).message.find("levels deep"), std::string::npos);
}

TEST(ParseYaml, TooLarge_IsRefused) {
  EXPECT_NE(ReadError(std::string(kMaxBytes + 1, '#')).message.find("larger than"), std::string::npos);
}

}  // namespace
}  // namespace kepler::yaml
