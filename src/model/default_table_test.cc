#include "model/default_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::model {
namespace {

using ::testing::HasSubstr;

TEST(ReadDefaultTable, Truncated_IsMalformedWithTheLine) {
  const std::string text(ShippedTableText());
  EXPECT_THAT(ReadDefaultTable("").error().message, HasSubstr("missing"));
  EXPECT_THAT(ReadDefaultTable(text.substr(0, text.find("vendor,year"))).error().message, HasSubstr("line 3"));
  const size_t last = text.rfind(',');
  EXPECT_THAT(ReadDefaultTable(text.substr(0, last)).error().message, HasSubstr("line 3"));
}

TEST(ReadDefaultTable, MalformedCell_IsMalformedWithTheLine) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text(ShippedTableText());
    text.replace(text.find(from), from.size(), to);
    return ReadDefaultTable(text);
  };
  EXPECT_TRUE(with("AMD Zen 3", "AMD Zen three"));
  EXPECT_THAT(with(",base,", ",bass,").error().message, HasSubstr("line 4"));
  EXPECT_THAT(with("log_chips", "log_chops").error().message, HasSubstr("line 6"));
  EXPECT_THAT(with("\nAMD Zen 3,processors,amd,2021", "\nAMD Zen 3,processors,amd,nan").error().message,
              HasSubstr("not a row"));
  EXPECT_THAT(with("\nAMD Zen 3,processors,", "\nAMD Zen 3,processors,1,").error().message, HasSubstr("not a row"));
  EXPECT_THAT(with(",processors,", ",number,").error().message, HasSubstr("not a row"));
}

}  // namespace
}  // namespace kepler::model
