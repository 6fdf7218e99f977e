#include "report/intensity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::report {
namespace {

Milliseconds Second(int64_t seconds) { return Milliseconds(std::chrono::seconds(seconds)); }

TEST(Intensity, EachValueHoldsUntilTheNextTime) {
  const auto intensity = Intensity::Read("time,g_per_kwh\n200,50\r\n100,300\n\n1970-01-01T00:05:00Z,0\n");
  ASSERT_TRUE(intensity) << intensity.error().message;
  EXPECT_EQ(intensity->At(Second(50)), 300);
  EXPECT_EQ(intensity->At(Second(199)), 300);
  EXPECT_EQ(intensity->At(Second(200)), 50);
  EXPECT_EQ(intensity->At(Second(1'000)), 0);
  EXPECT_EQ(Intensity(400).At(Second(7)), 400);
  EXPECT_FALSE(Intensity().is_known());
}

TEST(Intensity, FileOfExcel) {
  const auto intensity = Intensity::Read("\xEF\xBB\xBFtime,g_per_kwh\r\n100,300\r\n");
  ASSERT_TRUE(intensity) << intensity.error().message;
  EXPECT_EQ(intensity->At(Second(50)), 300);
  EXPECT_FALSE(Intensity::Read("\xEF\xBB"));
  EXPECT_FALSE(Intensity::Read("\xEF\xBB\xBF"));
  const auto semicolons = Intensity::Read("\xEF\xBB\xBFtime;g_per_kwh\r\n100;300\r\n");
  ASSERT_FALSE(semicolons);
  EXPECT_EQ(semicolons.error().message, "line 1: the columns must be separated by ',', not by ';'");
}

TEST(Intensity, BadFiles_NameTheLine) {
  for (const auto& [csv, line] : {std::pair{"", "line 1"},
                                  {"a,b\n1,2", "line 1"},
                                  {"time,g_per_kwh\n1", "line 2"},
                                  {"time,g_per_kwh\n1,2\nx,2", "line 3"},
                                  {"time,g_per_kwh\n1,-2", "line 2"},
                                  {"time,g_per_kwh\n1,nan", "line 2"},
                                  {"time,g_per_kwh\n", "line 2"}}) {
    const auto intensity = Intensity::Read(csv);
    ASSERT_FALSE(intensity) << csv;
    EXPECT_THAT(intensity.error().message, ::testing::StartsWith(line)) << csv;
  }
}

}  // namespace
}  // namespace kepler::report
