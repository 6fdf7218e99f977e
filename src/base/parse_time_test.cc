#include "base/parse_time.h"

#include <gtest/gtest.h>

#include <string_view>

namespace kepler {
namespace {

double Seconds(std::string_view text) { return ParseTime(text).value_or(-1); }

TEST(ParseTime, UnixSecondsAndRfc3339) {
  EXPECT_EQ(Seconds("1700000000"), 1'700'000'000);
  EXPECT_EQ(Seconds("1700000000.25"), 1'700'000'000.25);
  EXPECT_EQ(Seconds("2023-11-14T22:13:20Z"), 1'700'000'000);
  EXPECT_EQ(Seconds("2023-11-14t22:13:20.25z"), 1'700'000'000.25);
  EXPECT_EQ(Seconds("2023-11-14 23:43:20+01:30"), 1'700'000'000);
  EXPECT_EQ(Seconds("2023-11-14T20:13:20-02:00"), 1'700'000'000);
  EXPECT_EQ(Seconds("2024-02-29T00:00:00Z"), 1'709'164'800);
}

TEST(ParseTime, AnythingElse_IsRefused) {
  for (const std::string_view text :
       {"", "now", "-5", "nan", "inf", "1e300", "2023-11-14", "2023-11-14T22:13:20", "2023-11-14T22:13Z",
        "2023-02-29T00:00:00Z", "2023-13-01T00:00:00Z", "2023-11-14T24:00:00Z", "2023-11-14T22:13:20.Z",
        "2023-11-14T22:13:20+1:00", "2023-11-14T22:13:20+01:00x", "2023-11-14T22:13:20+99:00", " 1700000000",
        "+023-11-14T22:13:20Z", "2023-11-14T22:13:20Z "})
    EXPECT_FALSE(ParseTime(text)) << text;
}

}  // namespace
}  // namespace kepler
