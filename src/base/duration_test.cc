#include "base/duration.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace kepler {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(ParseDuration, GoSpellings_GiveTheirLength) {
  const std::pair<std::string_view, Duration> cases[] = {
      {"5s", seconds(5)},
      {"500ms", milliseconds(500)},
      {"1h30m", minutes(90)},
      {"1m30s", seconds(90)},
      {"1.5h", minutes(90)},
      {".5s", milliseconds(500)},
      {"5.s", seconds(5)},
      {"-5s", seconds(-5)},
      {"+5s", seconds(5)},
      {"0", Duration{0}},
      {"-0", Duration{0}},
      {"0s", Duration{0}},
      {"3us", microseconds(3)},
      {"3\u00B5s", microseconds(3)},
      {"3\u03BCs", microseconds(3)},
      {"7ns", nanoseconds(7)},
      {"1s1s", seconds(2)},
      {"0.000000001h", nanoseconds(3600)},
      {"7d", hours(168)},
      {"1d12h", hours(36)},
      {"-1.5d", hours(-36)},
      {"106751d23h47m16.854775807s", Duration::max()},
      {"2562047h47m16.854775807s", Duration::max()},
      {"-2562047h47m16.854775808s", Duration::min()},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = ParseDuration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(ParseDuration, AnythingElse_IsRejectedWithTheReason) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "number is missing"},
      {"5", "unit is missing"},
      {"5w", "unknown unit \"w\" (ns, us, ms, s, m, h, d)"},
      {"106752d", "too long"},
      {"s", "number is missing"},
      {".s", "number is missing"},
      {"-", "number is missing"},
      {"5 s", "unknown unit"},
      {" 5s", "number is missing"},
      {"5S", "unknown unit"},
      {"1h30", "unit is missing"},
      {"--5s", "number is missing"},
      {"1.2.3s", "unit is missing"},
      {"2562048h", "too long"},
      {"9223372036854775808ns", "too long"},
      {"99999999999999999999s", "too long"},
  };
  for (const auto& [text, reason] : cases) {
    const auto parsed = ParseDuration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find(reason), std::string::npos) << parsed.error().message;
    EXPECT_NE(parsed.error().message.find("\"" + std::string(text) + "\""), std::string::npos)
        << parsed.error().message;
  }
}

TEST(FormatDuration, OrdinaryLengths_ReadAsPeopleWriteThem) {
  EXPECT_EQ(FormatDuration(Duration{0}), "0s");
  EXPECT_EQ(FormatDuration(minutes(2)), "2m");
  EXPECT_EQ(FormatDuration(minutes(90)), "1h30m");
  EXPECT_EQ(FormatDuration(milliseconds(1500)), "1s500ms");
  EXPECT_EQ(FormatDuration(microseconds(3)), "3us");
  EXPECT_EQ(FormatDuration(hours(-24)), "-24h");
}

RC_GTEST_PROP(FormatDuration, AnyLength_ParsesToItself, (int64_t count)) {
  const auto parsed = ParseDuration(FormatDuration(Duration(count)));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->count() == count);
}

TEST(FormatDuration, TheExtremes_ParseToThemselves) {
  EXPECT_EQ(ParseDuration(FormatDuration(Duration::min())).value(), Duration::min());
  EXPECT_EQ(ParseDuration(FormatDuration(Duration::max())).value(), Duration::max());
}

}  // namespace
}  // namespace kepler
