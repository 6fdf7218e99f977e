#include "energy/rapl/perf_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

namespace kepler::energy::rapl {
namespace {

using ::testing::HasSubstr;

TEST(PerfEventTest, ParseEventConfig_KernelsTextOrOther) {
  EXPECT_EQ(ParseEventConfig("event=0x02"), 2u);
  EXPECT_EQ(ParseEventConfig("event=0xffffffffffffffff"), UINT64_MAX);
  for (const char* text : {"", "event=", "event=0x", "event=2", "event=0xg", "event=0x02,umask=0x1", "config=0x02",
                           "event=0x10000000000000000", "event=0x02 "}) {
    const auto config = ParseEventConfig(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().kind, ErrorKind::kMalformed);
    EXPECT_THAT(config.error().message, HasSubstr("is not like"));
  }
}

TEST(PerfEventTest, ParseEventScale_KernelsTextOrOther) {
  EXPECT_EQ(ParseEventScale("2.3283064365386962890625e-10"), 1.0 / 4'294'967'296.0);
  for (const char* text : {"", "0", "-1e-10", "1", "inf", "nan", "1e-10x", "1e-999", "0x1p-32"})
    EXPECT_FALSE(ParseEventScale(text)) << text;
}

TEST(PerfEventTest, OpenPerfCounter_EventOfTheKernel_CountsFromZero) {
  const auto counter = OpenPerfCounter({PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK}, 0);
  if (!counter) GTEST_SKIP() << counter.error().message;
  const auto first = (*counter)->Read();
  ASSERT_TRUE(first) << first.error().message;
  uint64_t later = *first;
  for (int i = 0; i < 1'000'000 && later == *first; ++i) later = (*counter)->Read().value_or(0);
  EXPECT_GT(later, *first);
  constexpr uint64_t kHour = 3'600'000'000'000;
  EXPECT_LT(later, kHour);
}

TEST(PerfEventTest, OpenPerfCounter_NoSuchPmu_NamesTheEvent) {
  const auto counter = OpenPerfCounter({0x7FFFFFFF, 2}, 0);
  ASSERT_FALSE(counter);
  EXPECT_THAT(counter.error().message, HasSubstr("open perf event 0x2 of PMU 2147483647 on CPU 0: "));
}

}  // namespace
}  // namespace kepler::energy::rapl
