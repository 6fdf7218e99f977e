#include <gtest/gtest.h>

#include <vector>

#include "energy/hwmon/device.h"

namespace kepler::energy::hwmon {
namespace {

TEST(ParseSensorFile, SensorAttributes_AreTakenApart) {
  const auto power = ParseSensorFile("power12_average");
  ASSERT_TRUE(power);
  EXPECT_EQ(power->kind, ChannelKind::kPower);
  EXPECT_EQ(power->index, 12);
  EXPECT_EQ(power->property, "average");
  EXPECT_EQ(ParseSensorFile("in0_input")->kind, ChannelKind::kVoltage);
  EXPECT_EQ(ParseSensorFile("curr1_label")->kind, ChannelKind::kCurrent);
  EXPECT_EQ(ParseSensorFile("energy1_input")->kind, ChannelKind::kEnergy);
  EXPECT_EQ(ParseSensorFile("power1_average_interval_max")->property, "average_interval_max");
}

TEST(ParseSensorFile, OtherNames_AreNothing) {
  for (const char* name :
       {"", "name", "in", "in_input", "in1", "in1_", "power_input", "powerx_input", "power-1_input", "intrusion0_alarm",
        "temp1_input", "power10000_input", "power99999999999_input", "input_in1"}) {
    EXPECT_FALSE(ParseSensorFile(name)) << name;
  }
}

TEST(ChannelTable, FileNames_AreGroupedByChannel) {
  const std::vector<std::string> files = {"curr1_input", "in1_input", "in1_label", "name", "power2_input"};
  const ChannelTable table(files);
  EXPECT_TRUE(table.Has(ChannelKind::kVoltage, 1, "label"));
  EXPECT_FALSE(table.Has(ChannelKind::kCurrent, 1, "label"));
  EXPECT_FALSE(table.Has(ChannelKind::kEnergy, 1, "input"));
  EXPECT_EQ(table.Of(ChannelKind::kPower).begin()->first, 2);
  EXPECT_TRUE(table.Of(ChannelKind::kEnergy).empty());
}

}  // namespace
}  // namespace kepler::energy::hwmon
