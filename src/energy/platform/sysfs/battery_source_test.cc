#include "energy/platform/sysfs/battery_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/meter.h"
#include "energy/polled_source.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::platform::sysfs {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class BatterySourceTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) {
    tree_.Write("class/power_supply/" + file, text + "\n");
  }
  void Battery(const std::string& name, const std::string& status, const std::string& microwatts) {
    Write(name + "/type", "Battery");
    Write(name + "/status", status);
    Write(name + "/power_now", microwatts);
  }
  const Answer& Read(size_t index = 0) {
    source_.Read(readings_);
    return readings_.at(index).value;
  }
  testing::FakeTree tree_;
  testing::FakeClock clock_;
  BatterySource source_{tree_.root(), testing::Lend(clock_)};
  std::vector<DomainReading> readings_;
};

TEST_F(BatterySourceTest, Discover_OnlyBatteriesOfTheMachine) {
  EXPECT_FALSE(BatterySource::IsPresent(tree_.root()));
  Write("AC/type", "Mains");
  Battery("hidpp_battery_0", "Discharging", "1");
  Write("hidpp_battery_0/scope", "Device");
  EXPECT_FALSE(BatterySource::IsPresent(tree_.root()));
  ASSERT_FALSE(source_.Discover());
  Battery("BAT0", "Discharging", "8500000");
  Write("BAT0/scope", "System");
  Write("BAT0/model_name", "DELL 1V1F0");
  EXPECT_TRUE(BatterySource::IsPresent(tree_.root()));
  EXPECT_TRUE(source_.HasChanged());
  const auto domains = source_.Discover();
  ASSERT_TRUE(domains) << domains.error().message;
  ASSERT_EQ(domains->size(), 1);
  EXPECT_EQ(domains->front().sensor->source_id, "BAT0");
  EXPECT_EQ(domains->front().sensor->source_name, "DELL 1V1F0");
}

TEST_F(BatterySourceTest, Read_Discharging_PowerWithoutSign) {
  Battery("BAT0", "Discharging", "-8500000");
  ASSERT_TRUE(source_.Discover());
  EXPECT_EQ(std::get<Power>(Read()), Power::Watts(8.5));
}

TEST_F(BatterySourceTest, Read_NoPowerFile_CurrentTimesVoltage) {
  Write("BAT0/type", "Battery");
  Write("BAT0/status", "Discharging");
  Write("BAT0/current_now", "2000000");
  Write("BAT0/voltage_now", "12000000");
  ASSERT_TRUE(source_.Discover());
  EXPECT_EQ(std::get<Power>(Read()), Power::Watts(24));
  tree_.Remove("class/power_supply/BAT0/voltage_now");
  EXPECT_THAT(std::get<Error>(Read()).message, HasSubstr("BAT0/voltage_now"));
}

TEST_F(BatterySourceTest, Read_OnMains_Withheld) {
  Battery("BAT0", "Charging", "30000000");
  Battery("BAT1", "Full", "0");
  ASSERT_TRUE(source_.Discover());
  EXPECT_TRUE(std::holds_alternative<Withheld>(Read(0)));
  EXPECT_TRUE(std::holds_alternative<Withheld>(Read(1)));
}

TEST_F(BatterySourceTest, Read_WeakChargerAndBatteryTogether_Withheld) {
  Battery("BAT0", "Discharging", "5000000");
  Write("ucsi-source-psy-USBC000:001/type", "USB");
  Write("ucsi-source-psy-USBC000:001/online", "1");
  ASSERT_TRUE(source_.Discover());
  EXPECT_TRUE(std::holds_alternative<Withheld>(Read()));
  Write("ucsi-source-psy-USBC000:001/online", "0");
  EXPECT_EQ(std::get<Power>(Read()), Power::Watts(5));
}

TEST_F(BatterySourceTest, Read_OneOfTwoDischarges_TheOtherGivesNothing) {
  Battery("BAT0", "Discharging", "9000000");
  Battery("BAT1", "Not charging", "5");
  ASSERT_TRUE(source_.Discover());
  EXPECT_EQ(std::get<Power>(Read(0)), Power::Watts(9));
  EXPECT_EQ(std::get<Power>(Read(1)), Power());
}

TEST_F(BatterySourceTest, Read_MalformedOrMissing_ErrorOfThatBattery) {
  Battery("BAT0", "Discharging", "a lot");
  Battery("BAT1", "Discharging", "9000000");
  ASSERT_TRUE(source_.Discover());
  EXPECT_THAT(std::get<Error>(Read(0)).message, HasSubstr("BAT0/power_now: \"a lot\" is not a whole number"));
  tree_.Remove("class/power_supply/BAT0");
  EXPECT_EQ(std::get<Error>(Read(0)).kind, ErrorKind::kNotFound);
  EXPECT_EQ(std::get<Power>(Read(1)), Power::Watts(9));
}

/// Hours on mains are no gap of the meter, and no energy of the battery.
TEST_F(BatterySourceTest, Meter_BatteryThenMainsThenBattery_OnlyTheTimeOnBatteryCounts) {
  Battery("BAT0", "Discharging", "10000000");
  PolledSource* polled = nullptr;
  auto made = std::make_unique<PolledSource>(std::make_unique<BatterySource>(tree_.root(), testing::Lend(clock_)), 10s,
                                             testing::Lend(clock_));
  polled = made.get();
  polled->Poll();
  Meter meter(std::move(made), clock_);
  ASSERT_TRUE(meter.Open());
  Energy total;
  const auto pass = [&](int polls, const std::string& status) {
    Write("BAT0/status", status);
    for (int i = 0; i < polls; ++i) {
      clock_.Advance(10s);
      polled->Poll();
      meter.Sample();
      total += meter.deltas()[0].energy;
    }
  };
  meter.Sample();
  pass(6, "Discharging");
  EXPECT_EQ(total, Energy::Joules(600));
  pass(360, "Charging");
  pass(6, "Discharging");
  // Half a poll at each end: the change was at some time within it.
  EXPECT_EQ(total, Energy::Joules(600 + 50 + 50 + 500));
  EXPECT_EQ(meter.status().resets, 0);
}

}  // namespace
}  // namespace kepler::energy::platform::sysfs
