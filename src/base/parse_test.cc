#include "base/parse.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kepler {
namespace {

TEST(ParseNumber, WholeNumber_IsRead) {
  EXPECT_EQ(ParseNumber<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(ParseNumber<int>("-7"), -7);
  EXPECT_EQ(ParseNumber<double>("1.5"), 1.5);
}

TEST(ParseNumber, AnythingElse_IsNothing) {
  for (const auto* text : {"", " 1", "1 ", "1x", "+1", "0x10", "99999999999999999999"})
    EXPECT_EQ(ParseNumber<uint64_t>(text), std::nullopt) << text;
  EXPECT_EQ(ParseNumber<uint32_t>("-1"), std::nullopt);
}

TEST(Trim, Blanks_AreCut) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(WithoutLineEnd, OneLineEnd_IsCut_AndNothingElse) {
  for (const auto* text : {" open  sesame\t", " open  sesame\t\n", " open  sesame\t\r\n"})
    EXPECT_EQ(WithoutLineEnd(text), " open  sesame\t");
  EXPECT_EQ(WithoutLineEnd("a\n\n"), "a\n");
  EXPECT_EQ(WithoutLineEnd("a\r"), "a\r");
  EXPECT_EQ(WithoutLineEnd("\n"), "");
  EXPECT_EQ(WithoutLineEnd(""), "");
}

TEST(Splitter, Fields_IncludingEmptyOnes) {
  Splitter splitter("a::b:", ':');
  std::vector<std::string> fields;
  while (const auto field = splitter.Next()) fields.emplace_back(*field);
  EXPECT_EQ(fields, (std::vector<std::string>{"a", "", "b", ""}));
}

}  // namespace
}  // namespace kepler
