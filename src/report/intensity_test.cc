#include "report/intensity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::report {
namespace {

Milliseconds Second(int64_t seconds) { return Milliseconds(std::chrono::seconds(seconds)); }
double At(const Intensity& intensity, int64_t seconds) { return intensity.Mean(Second(seconds), Second(seconds)); }

TEST(Intensity, EachValueHoldsUntilTheNextTime) {
  const auto intensity = Intensity::Read("time,g_per_kwh\n200,50\r\n100,300\n\n1970-01-01T00:05:00Z,0\n");
  ASSERT_TRUE(intensity) << intensity.error().message;
  EXPECT_EQ(At(*intensity, 50), 300);
  EXPECT_EQ(At(*intensity, 199), 300);
  EXPECT_EQ(At(*intensity, 200), 50);
  EXPECT_EQ(At(*intensity, 1'000), 0);
  EXPECT_EQ(At(Intensity(400), 7), 400);
  EXPECT_EQ(At(Intensity(), 7), 0);
  EXPECT_FALSE(Intensity().is_known());
}

TEST(Intensity, MeanOverATime_WeighsEachValueByItsPart) {
  const auto intensity = Intensity::Read("time,g_per_kwh\n100,300\n200,50\n300,0\n");
  ASSERT_TRUE(intensity) << intensity.error().message;
  EXPECT_EQ(intensity->Mean(Second(100), Second(200)), 300) << "the value that begins at the end of the time";
  EXPECT_EQ(intensity->Mean(Second(200), Second(300)), 50);
  EXPECT_DOUBLE_EQ(intensity->Mean(Second(180), Second(220)), 175);
  EXPECT_DOUBLE_EQ(intensity->Mean(Second(0), Second(400)), (200 * 300 + 100 * 50) / 400.0);
  EXPECT_EQ(intensity->Mean(Second(0), Second(50)), 300);
  EXPECT_EQ(intensity->Mean(Second(400), Second(900)), 0);
  EXPECT_EQ(Intensity(400).Mean(Second(0), Second(1)), 400);
  EXPECT_EQ(Intensity().Mean(Second(0), Second(1)), 0);
}

TEST(Intensity, LastValue_HoldsAsLongAsTheLongest) {
  EXPECT_EQ(Intensity::Read("time,g_per_kwh\n100,1\n200,2\n250,3\n")->End(), Second(350));
  EXPECT_EQ(Intensity::Read("time,g_per_kwh\n100,1\n")->End(), Milliseconds::max());
  EXPECT_EQ(Intensity(400).End(), Milliseconds::max());
}

TEST(Intensity, FileOfExcel) {
  const auto intensity = Intensity::Read("\xEF\xBB\xBFtime,g_per_kwh\r\n100,300\r\n");
  ASSERT_TRUE(intensity) << intensity.error().message;
  EXPECT_EQ(At(*intensity, 50), 300);
  EXPECT_FALSE(Intensity::Read("\xEF\xBB"));
  EXPECT_FALSE(Intensity::Read("\xEF\xBB\xBF"));
  const auto semicolons = Intensity::Read("\xEF\xBB\xBFtime;g_per_kwh\r\n100;300\r\n");
  ASSERT_FALSE(semicolons);
  EXPECT_EQ(semicolons.error().message, "line 1: the columns must be separated by ',', not by ';'");
}

TEST(Intensity, TwoValuesForOneTime_AreAnError) {
  const auto intensity = Intensity::Read("time,g_per_kwh\n1970-01-01T00:05:00Z,50\n100,1\n300,400\n");
  ASSERT_FALSE(intensity);
  EXPECT_EQ(intensity.error().message, "the time 1970-01-01T00:05:00Z has two values, 50 and 400");
  EXPECT_TRUE(Intensity::Read("time,g_per_kwh\n300,50\n300,50\n")) << "the same value twice";
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
