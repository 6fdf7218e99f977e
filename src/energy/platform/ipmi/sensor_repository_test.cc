#include "energy/platform/ipmi/sensor_repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/platform/ipmi/simulated_bmc.h"

namespace kepler::energy::platform::ipmi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SensorRepositoryTest : public ::testing::Test {
 protected:
  std::vector<std::string> Names() {
    const auto found = FindPowerSensors(link_);
    if (!found) return {found.error().message};
    std::vector<std::string> names;
    for (const PowerSensor& sensor : found->list) names.push_back(sensor.name);
    return names;
  }

  testing::FakeClock clock_;
  SimulatedBmc bmc_{clock_};
  BmcLink link_{"/dev/ipmi0", bmc_.opener(), testing::Lend(clock_)};
};

TEST_F(SensorRepositoryTest, Find_AmongOtherRecords_GivesThePowerSensors) {
  bmc_.Add("Inlet Temp", 1, 20);
  bmc_.records[1][21] = 1;  // degrees Celsius
  bmc_.Add("System Power", 2, 54);
  bmc_.records[3] = {0, 0, 0x51, 0xC0, 3, 1, 2, 3};  // a record of the vendor, shorter than a sensor's
  bmc_.Add("PSU1 Power", 3, 27);
  EXPECT_THAT(Names(), ElementsAre("System Power", "PSU1 Power"));
  EXPECT_EQ(bmc_.requests, 1 + 2 + 5 + 1 + 4);
}

TEST_F(SensorRepositoryTest, Find_BmcWithSmallBuffers_ReadsSmallerParts) {
  bmc_.Add("System Power", 2, 54);
  bmc_.max_part = 5;
  EXPECT_THAT(Names(), ElementsAre("System Power"));
  bmc_.max_part = 3;
  EXPECT_THAT(Names()[0], HasSubstr("read sensor record 0x0000: completion code 0xca"));
}

TEST_F(SensorRepositoryTest, Find_ReservationCancelled_StartsAnew) {
  bmc_.Add("CPU Power", 2, 54);
  bmc_.Add("System Power", 3, 54);
  bmc_.cancellations = 3;
  EXPECT_THAT(Names(), ElementsAre("CPU Power", "System Power"));
  bmc_.cancellations = 1'000;
  EXPECT_THAT(Names()[0], HasSubstr("changed 5 times"));
}

TEST_F(SensorRepositoryTest, Find_RecordsWithoutEnd_IsMalformed) {
  for (uint16_t id = 1; id < 5'000; ++id) bmc_.records[id] = {0, 0, 0x51, 0xC0, 0};
  EXPECT_THAT(Names()[0], HasSubstr("more than 4096"));
}

TEST_F(SensorRepositoryTest, Find_BrokenRecords_AreLeftOutWithTheReason) {
  bmc_.Add("Long Name", 1, 0);
  bmc_.records[1][47] = 0xDF;
  bmc_.Add("Curved", 2, 0);
  bmc_.records[2][23] = 7;
  bmc_.Add("ME Power", 3, 0);
  bmc_.records[3][5] = 0x2C;
  bmc_.Add("System Power", 4, 54);
  const auto found = FindPowerSensors(link_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->list.size(), 1u);
  EXPECT_THAT(found->left_out, ElementsAre(HasSubstr("cut after"), HasSubstr("not linear"),
                                           "ME Power: belongs to the controller 0x2c, not to the BMC"));
}

TEST_F(SensorRepositoryTest, Find_SilentBmc_TakesOneDeadline) {
  bmc_.is_silent = true;
  const BootTime begin = clock_.Now();
  EXPECT_THAT(Names()[0], HasSubstr("has not answered"));
  EXPECT_EQ(clock_.Now() - begin, BmcLink::kDeadline);
}

TEST_F(SensorRepositoryTest, Find_EmptyRepository_IsUnavailable) {
  const auto found = FindPowerSensors(link_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kUnavailable);
}

std::string Whole(const std::vector<std::string>& names) {
  std::vector<PowerSensor> sensors;
  for (const std::string& name : names) sensors.emplace_back().name = name;
  const auto index = WholeMachine(sensors);
  return index ? names[*index] : "none";
}

TEST(WholeMachine, NamesOfVendors_AreRecognised) {
  EXPECT_EQ(Whole({"PS1 Input Power", "Pwr Consumption", "PS2 Input Power"}), "Pwr Consumption");
  EXPECT_EQ(Whole({"CPU Power", "Mem Power", "Sys Power"}), "Sys Power");
  EXPECT_EQ(Whole({"CPU_Power", "Total_Power", "PSU1_PIN"}), "Total_Power");
  EXPECT_EQ(Whole({"PSU1_POUT", "POWER_USAGE"}), "POWER_USAGE");
  EXPECT_EQ(Whole({"Power Meter", "Power Supply 1"}), "Power Meter");
  EXPECT_EQ(Whole({"System Level"}), "System Level");
  EXPECT_EQ(Whole({"Total Power", "System Power"}), "Total Power") << "one of them counts";
}

TEST(WholeMachine, PartsAndStatistics_AreNotTheMachine) {
  EXPECT_EQ(Whole({"PS1 Input Power", "PS2 Input Power"}), "none");
  EXPECT_EQ(Whole({"Sys Fan Power", "Total Mem Power"}), "none");
  EXPECT_EQ(Whole({"Max System Power", "Peak Total"}), "none");
  EXPECT_EQ(Whole({"Node Power"}), "Node Power") << "the only sensor";
  EXPECT_EQ(Whole({"CPU Power"}), "none");
  EXPECT_EQ(Whole({}), "none");
}

}  // namespace
}  // namespace kepler::energy::platform::ipmi
