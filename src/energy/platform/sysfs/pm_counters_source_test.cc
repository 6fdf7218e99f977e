#include "energy/platform/sysfs/pm_counters_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::platform::sysfs {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(ParsePmCounterTest, ValueWithAndWithoutTime) {
  EXPECT_EQ(ParsePmCounter("8123456 J 1434481539532412 us\n", "J"), (PmCounter{8'123'456, 1'434'481'539'532'412}));
  EXPECT_EQ(ParsePmCounter("98 W", "W"), (PmCounter{98, std::nullopt}));
  EXPECT_EQ(ParsePmCounter("0 J 0 us", "J"), (PmCounter{0, 0}));
}

TEST(ParsePmCounterTest, AnythingElse_None) {
  for (const char* text : {"", "12", "12 W", "J", "-1 J", "1.5 J", "12 J 5", "12 J 5 ms", "12 J x us", "12 J 5 us 6",
                           "99999999999999999999 J", "12J", "12 J us"})
    EXPECT_FALSE(ParsePmCounter(text, "J")) << text;
}

class PmCountersSourceTest : public ::testing::Test {
 protected:
  static constexpr char kFiles[] = "cray/pm_counters/";
  void Write(const std::string& file, const std::string& text) { tree_.Write(kFiles + file, text + "\n"); }
  void Measure(int joules, int time) {
    Write("energy", std::to_string(joules) + " J " + std::to_string(time) + " us");
    Write("power", "250 W " + std::to_string(time) + " us");
  }
  const DomainReading& ReadFirst() {
    source_.Read(readings_);
    return readings_.at(0);
  }
  testing::FakeTree tree_;
  testing::FakeClock clock_;
  PmCountersSource source_{tree_.root(), testing::Lend(clock_)};
  std::vector<DomainReading> readings_;
};

TEST_F(PmCountersSourceTest, Discover_NodeIsTheWholeAndTheOthersAreParts) {
  EXPECT_FALSE(PmCountersSource::IsPresent(tree_.root()));
  Measure(10, 1);
  Write("cpu_energy", "5 J 1 us");
  Write("accel0_energy", "2 J 1 us");
  Write("power_cap", "0 W");
  Write("version", "2");
  EXPECT_TRUE(PmCountersSource::IsPresent(tree_.root()));
  const auto domains = source_.Discover();
  ASSERT_TRUE(domains) << domains.error().message;
  ASSERT_EQ(domains->size(), 3);
  EXPECT_EQ((*domains)[0].sensor->source_name, "accel0");
  EXPECT_FALSE((*domains)[0].sensor->whole);
  EXPECT_EQ((*domains)[1].sensor->source_name, "cpu");
  EXPECT_EQ((*domains)[2].sensor->source_name, "node");
  EXPECT_TRUE((*domains)[2].sensor->whole);
}

TEST_F(PmCountersSourceTest, Discover_NoCounters_Error) {
  EXPECT_FALSE(source_.Discover());
  Write("version", "2");
  const auto domains = source_.Discover();
  ASSERT_FALSE(domains);
  EXPECT_THAT(domains.error().message, HasSubstr("has no energy counter"));
}

TEST_F(PmCountersSourceTest, Read_CounterInMicrojoulesWithThePowerOfTheBlade) {
  Measure(8'123'456, 1);
  ASSERT_TRUE(source_.Discover());
  const DomainReading& reading = ReadFirst();
  EXPECT_EQ(std::get<RawCounter>(reading.value).microjoules, 8'123'456'000'000);
  EXPECT_EQ(reading.power, Power::Watts(250));
  EXPECT_EQ(reading.at, clock_.Now());
}

TEST_F(PmCountersSourceTest, Read_SameMeasurement_KeepsItsTimeUntilTheControllerHasFailed) {
  Measure(10, 1);
  ASSERT_TRUE(source_.Discover());
  const BootTime measured = ReadFirst().at;
  clock_.Advance(10s);
  EXPECT_EQ(ReadFirst().at, measured);
  clock_.Advance(1s);
  EXPECT_THAT(std::get<Error>(ReadFirst().value).message, HasSubstr("no new measurement for 10 s"));
  Measure(10, 2);
  EXPECT_EQ(ReadFirst().at, clock_.Now());
}

TEST_F(PmCountersSourceTest, Read_MissingOrMalformedFile_ErrorOfThatCounterOnly) {
  Measure(10, 1);
  Write("cpu_energy", "much");
  ASSERT_TRUE(source_.Discover());
  source_.Read(readings_);
  EXPECT_THAT(std::get<Error>(readings_.at(0).value).message,
              HasSubstr("cpu_energy: \"much\" is not a number of joules"));
  EXPECT_TRUE(std::holds_alternative<RawCounter>(readings_.at(1).value));
  tree_.Remove("cray/pm_counters/energy");
  source_.Read(readings_);
  EXPECT_EQ(std::get<Error>(readings_.at(1).value).kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace kepler::energy::platform::sysfs
