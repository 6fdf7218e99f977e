#include "json/document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

namespace kepler::json {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string JsonComplaint(std::string_view text) {
  const auto json = Parse(text);
  if (json) return "";
  EXPECT_EQ(json.error().kind, ErrorKind::kMalformed);
  return json.error().message;
}

TEST(JsonParse, KindsAndWaysToThem) {
  const auto json = Parse(R"({"a": {"b": [1, 2.5e1, -3]}, "t": "x\u00e9\"", "n": null, "l": [1, "two"], "e": []})");
  ASSERT_TRUE(json) << json.error().message;
  const Cursor root(*json);
  const auto numbers = root.Member("a")->Member("b");
  EXPECT_EQ(numbers->Path(), "a.b");
  EXPECT_THAT(*numbers->Numbers(), ElementsAre(1, 25, -3));
  EXPECT_EQ(*root.Member("t")->Text(), "x\u00e9\"");
  EXPECT_FALSE(*root.Find("absent"));
  const auto list = root.Member("l")->Elements();
  ASSERT_TRUE(list);
  EXPECT_EQ(*list->at(0).Number(), 1);
  EXPECT_EQ(list->at(1).Path(), "l[1]");
  EXPECT_EQ(*list->at(1).Text(), "two");
  EXPECT_TRUE(root.Member("e")->Elements()->empty());
  EXPECT_TRUE(root.Member("e")->Numbers()->empty());
}

TEST(JsonParse, AListMayTurnFromNumbersToOthers) {
  const auto json = Parse(R"([1, 2, [3, {"a": 4}], 5, {"b": [6]}])");
  ASSERT_TRUE(json) << json.error().message;
  const auto list = Cursor(*json).Elements();
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 5U);
  EXPECT_EQ(*list->at(1).Number(), 2);
  EXPECT_EQ(*list->at(2).Elements()->at(1).Member("a")->Number(), 4);
  EXPECT_EQ(*list->at(3).Number(), 5);
  EXPECT_THAT(*list->at(4).Member("b")->Numbers(), ElementsAre(6));
}

TEST(JsonParse, WhatIsMalformedSaysWhere) {
  EXPECT_EQ(JsonComplaint(""), "parse JSON: the text is empty");
  EXPECT_THAT(JsonComplaint(R"({"a": [1, 2)"), HasSubstr("byte 11"));
  EXPECT_THAT(JsonComplaint("[1] x"), HasSubstr("unexpected text after byte 4"));
  EXPECT_THAT(JsonComplaint(R"({"a": 1, "b": 2, "a": 3})"), HasSubstr("the key \"a\" appears twice"));
  EXPECT_THAT(JsonComplaint("[1e999]"), HasSubstr("1e999 is too large"));
  EXPECT_NE(JsonComplaint("[NaN]"), "");
  EXPECT_NE(JsonComplaint("\"\xff\""), "");
  EXPECT_NE(JsonComplaint(std::string(33, '[') + std::string(33, ']')), "");
}

TEST(JsonParse, WhatIsNoJsonAtAllIsCalledByItsName) {
  const auto refusal = [](std::string_view text) { return Parse(text).error().message; };
  EXPECT_THAT(refusal(std::string_view("PK\x03\x04\x14\0", 6)), HasSubstr("a zip archive, not JSON"));
  EXPECT_THAT(refusal("\x1f\x8b\x08"), HasSubstr("gzip"));
  EXPECT_THAT(refusal("\n<!DOCTYPE html><p>"), HasSubstr("HTML, not JSON"));
  EXPECT_EQ(refusal("# Kepler\n"), "text, not JSON");
  EXPECT_EQ(refusal(std::string_view("\x7f"
                                     "ELF\2\1\1\0",
                                     8)),
            "binary data, not JSON");
  EXPECT_THAT(refusal("{\"a\":x"), HasSubstr("near byte"));
}

TEST(JsonParse, OnlySoManyValues) {
  constexpr std::string_view kSix = R"({"a": [1, 2, 3], "b": ["x", null, {}]})";
  EXPECT_TRUE(Parse(kSix, 6));
  const auto more = Parse(kSix, 5);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind, ErrorKind::kMalformed);
  EXPECT_THAT(more.error().message, HasSubstr("more than 5 values"));
  EXPECT_TRUE(Parse("[1, 2, 3, 4, 5]", 1)) << "lists of numbers do not count";
  EXPECT_FALSE(Parse("[1, 2, 3, 4, 5, null]", 6)) << "but this is none";
  EXPECT_FALSE(Parse("1", 0));
}

TEST(JsonCursor, SaysWhatStandsThere) {
  const auto json = Parse(R"({"a": {"b": "text"}, "n": 2.5, "mixed": [1, "x"]})");
  ASSERT_TRUE(json);
  const Cursor root(*json);
  EXPECT_EQ(root.Member("mixed")->Numbers().error().message, "mixed[1]: expected a number, found a text");
  EXPECT_EQ(root.Member("a")->Member("b")->Number().error().message, "a.b: expected a number, found a text");
  EXPECT_EQ(root.Member("a")->Member("c").error().message, "a: \"c\" is missing");
  EXPECT_EQ(root.Member("c").error().message, "\"c\" is missing");
  EXPECT_EQ(root.Member("n")->Count(9).error().message, "n: 2.5 is not a whole number from 0 to 9");
  EXPECT_FALSE(root.Member("n")->Members());
  EXPECT_FALSE(root.Member("n")->Elements());
  EXPECT_FALSE(root.Member("n")->Numbers());
  EXPECT_FALSE(root.Member("n")->Text());
  EXPECT_FALSE(root.Member("n")->Bool());
}

TEST(JsonCursor, OtherKeysAreRefusedWithTheNearest) {
  constexpr std::string_view kKeys[] = {"cores", "chips"};
  const auto json = Parse(R"({"good": {"chips": 1}, "bad": {"core": 1}, "list": []})");
  ASSERT_TRUE(json);
  const Cursor root(*json);
  EXPECT_TRUE(root.Member("good")->OnlyKeys(kKeys));
  EXPECT_EQ(root.Member("bad")->OnlyKeys(kKeys).error().message, "bad: unknown key \"core\"; did you mean cores?");
  EXPECT_FALSE(root.Member("list")->OnlyKeys(kKeys));
}

TEST(JsonCursor, AKeyAndItsValue) {
  const auto json = Parse(R"({"n": 2, "t": "x", "l": ["a", "b"], "numbers": [1, 2]})");
  ASSERT_TRUE(json);
  const Cursor root(*json);
  EXPECT_EQ(root.Number("n"), 2);
  EXPECT_EQ(root.Count("n"), 2u);
  EXPECT_EQ(root.Text("t"), "x");
  EXPECT_THAT(*root.Texts("l"), ElementsAre("a", "b"));
  EXPECT_EQ(root.Elements("l")->size(), 2u);
  EXPECT_THAT(*root.Numbers("numbers"), ElementsAre(1, 2));
  EXPECT_EQ(root.Text("none").error().message, "\"none\" is missing");
  EXPECT_EQ(root.Count("n", 1).error().message, "n: 2 is not a whole number from 0 to 1");
  EXPECT_EQ(root.Texts("numbers").error().kind, ErrorKind::kMalformed);
}

RC_GTEST_PROP(JsonParse, NumbersComeBackToTheLastBit, (double number)) {
  RC_PRE(std::isfinite(number));
  const auto json = Parse(fmt::format("[{}]", number));
  RC_ASSERT(json.has_value());
  RC_ASSERT(std::get<Value::Numbers>(json->value).front() == number);
}

TEST(JsonParse, NumbersTooSmallForADoubleAreZero) {
  const auto json = Parse("[1e-999]");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_THAT(*Cursor(*json).Numbers(), ElementsAre(0));
}

TEST(JsonQuote, WhatIsNotUtf8IsReplaced) { EXPECT_EQ(Quote("a\xff"), "\"a\xef\xbf\xbd\""); }

TEST(JsonQuote, ComesBack) {
  const std::string text = "a \"b\" \\ \n \x01 \u00e9";
  const auto json = Parse(Quote(text));
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(*Cursor(*json).Text(), text);
}

TEST(JsonQuote, ListsAreLists) {
  EXPECT_EQ(QuoteList({}), "[]");
  EXPECT_EQ(QuoteList(std::vector<std::string>{"a", "b\"c"}), R"(["a","b\"c"])");
}

}  // namespace
}  // namespace kepler::json
