#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/parse.h"
#include "export/prometheus/sample_writer.h"

namespace kepler::prometheus {
namespace {

template <class Number>
std::string Written(Number number) {
  char text[kNumberRoom];
  return {text, WriteNumber(text, number)};
}
std::string Joules(int64_t microjoules) { return Written(Energy::Microjoules(microjoules)); }
std::string Double(double value) { return Written(value); }

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
  EXPECT_EQ(Written(Nanoseconds(1)), "0.000000001");
  EXPECT_EQ(Written(Nanoseconds(1'230'000'000)), "1.23");
}

TEST(NumberText, Count_Whole) { EXPECT_EQ(Written(std::numeric_limits<uint64_t>::max()), "18446744073709551615"); }

TEST(NumberText, Double_ShortestAndFinite) {
  EXPECT_EQ(Double(12.5), "12.5");
  EXPECT_EQ(Double(0.1), "0.1");
  EXPECT_EQ(Double(-0.0), "0");
  EXPECT_EQ(Double(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(Double(std::numeric_limits<double>::infinity()), "0");
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
