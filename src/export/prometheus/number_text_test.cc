#include "export/prometheus/number_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/parse.h"

namespace kepler::prometheus {
namespace {

std::string Joules(int64_t microjoules) { return std::string(NumberText::Of(Energy::Microjoules(microjoules)).view()); }
std::string Double(double value) { return std::string(NumberText::Of(value).view()); }

TEST(NumberText, Joules_PlainDecimalsWithoutTrailingZeros) {
  EXPECT_EQ(Joules(0), "0");
  EXPECT_EQ(Joules(1), "0.000001");
  EXPECT_EQ(Joules(1'500'000), "1.5");
  EXPECT_EQ(Joules(1'000'000), "1");
  EXPECT_EQ(Joules(120'000'000), "120");
  EXPECT_EQ(Joules(10'000'010), "10.00001");
  EXPECT_EQ(Joules(-2'500'000), "-2.5");
}

TEST(NumberText, Joules_Extremes) {
  EXPECT_EQ(Joules(std::numeric_limits<int64_t>::max()), "9223372036854.775807");
  EXPECT_EQ(Joules(std::numeric_limits<int64_t>::min()), "-9223372036854.775808");
}

TEST(NumberText, Seconds_NineDecimals) {
  EXPECT_EQ(NumberText::Of(Nanoseconds(1)).view(), "0.000000001");
  EXPECT_EQ(NumberText::Of(Nanoseconds(1'230'000'000)).view(), "1.23");
}

TEST(NumberText, Count_Whole) {
  EXPECT_EQ(NumberText::Of(std::numeric_limits<uint64_t>::max()).view(), "18446744073709551615");
  EXPECT_EQ(NumberText::Of(true).view(), "1");
  EXPECT_EQ(NumberText::Of(false).view(), "0");
}

TEST(NumberText, Double_ShortestAndFinite) {
  EXPECT_EQ(Double(12.5), "12.5");
  EXPECT_EQ(Double(0.1), "0.1");
  EXPECT_EQ(Double(-0.0), "0");
  EXPECT_EQ(Double(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(Double(std::numeric_limits<double>::infinity()), "0");
}

TEST(NumberText, Timestamp_NeverIsZero) {
  EXPECT_EQ(NumberText::Of(WallTime{}).view(), "0");
  EXPECT_EQ(NumberText::Of(WallTime(std::chrono::milliseconds(1'700'000'000'250))).view(), "1700000000.25");
}

/// The microjoules that a plain decimal stands for, by integer arithmetic only.
std::optional<int64_t> ParseMicrojoules(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  std::string fraction(text.substr(std::min(dot + 1, text.size())));
  if (fraction.size() > 6 || fraction.ends_with('0')) return std::nullopt;
  fraction.resize(6, '0');
  const auto magnitude = ParseNumber<uint64_t>(digits + fraction);
  if (!magnitude) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - *magnitude : *magnitude);
}

RC_GTEST_PROP(NumberText, Joules_ReadBackExactly, (int64_t microjoules)) {
  RC_ASSERT(ParseMicrojoules(Joules(microjoules)) == microjoules);
}

RC_GTEST_PROP(NumberText, LargeJoules_ReadBackExactly, ()) {
  const auto microjoules = *rc::gen::arbitrary<int64_t>() ^ (*rc::gen::arbitrary<int64_t>() << 31);
  RC_ASSERT(ParseMicrojoules(Joules(microjoules)) == microjoules);
}

RC_GTEST_PROP(NumberText, Double_ReadsBackExactly, (double value)) {
  RC_ASSERT(ParseNumber<double>(Double(value)) == value);
}

}  // namespace
}  // namespace kepler::prometheus
