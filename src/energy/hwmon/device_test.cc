#include "energy/hwmon/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.h"

namespace kepler::energy::hwmon {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class DeviceTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) {
    tree_.Write("class/hwmon/hwmon0/" + file, text + "\n");
  }
  Device Read() {
    auto device = ReadDevice(tree_.Path("class/hwmon/hwmon0"), buffer_);
    EXPECT_TRUE(device);
    return device ? *device : Device{};
  }
  std::vector<std::string> Zones(const ChipRule* rule = nullptr) {
    const auto sensors = FindSensors(Read(), rule, buffer_);
    std::vector<std::string> zones;
    if (!sensors) return {sensors.error().message};
    for (const Sensor& sensor : *sensors)
      zones.push_back(sensor.zone + " " + sensor.path.substr(sensor.path.rfind('/') + 1));
    return zones;
  }

  testing::FakeTree tree_;
  os::ReadBuffer buffer_;
};

TEST_F(DeviceTest, ReadDevice_DeviceLink_GivesThePrefixAndAStableIdentity) {
  tree_.MakeDir("devices/pci0000:00/0000:00:18.3");
  Write("name", "ZenPower");
  tree_.Symlink("class/hwmon/hwmon0/device", "../../../devices/pci0000:00/0000:00:18.3");
  const Device device = Read();
  EXPECT_EQ(device.chip, "zenpower");
  EXPECT_EQ(device.zone_prefix, "pci0000:00_0000:00:18_3");
  EXPECT_THAT(device.identity, EndsWith("devices/pci0000:00/0000:00:18.3/zenpower"));
  EXPECT_EQ(device.attributes, device.directory);
}

TEST_F(DeviceTest, ReadDevice_AttributesInTheParent_AreFoundThere) {
  tree_.Write("devices/LNXSYSTM:00/ACPI000D:00/name", "power_meter\n");
  tree_.Write("devices/LNXSYSTM:00/ACPI000D:00/power1_average", "123456000\n");
  tree_.MakeDir("class/hwmon/hwmon0");
  tree_.Symlink("class/hwmon/hwmon0/device", "../../../devices/LNXSYSTM:00/ACPI000D:00");
  EXPECT_EQ(Read().attributes, tree_.Path("class/hwmon/hwmon0/device"));
  EXPECT_THAT(Zones(), ElementsAre("lnxsystm:00_acpi000d:00_power1 power1_average"));
}

TEST_F(DeviceTest, ReadDevice_NoName_IsNotFound) {
  tree_.MakeDir("class/hwmon/hwmon0");
  const auto device = ReadDevice(tree_.Path("class/hwmon/hwmon0"), buffer_);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::kNotFound);
}

TEST_F(DeviceTest, ReadDevice_EmptyName_DirectoryNameServes) {
  Write("name", "");
  EXPECT_EQ(Read().zone_prefix, "hwmon0");
}

TEST_F(DeviceTest, FindSensors_AllThreeKinds_EnergyWins) {
  Write("name", "x");
  Write("energy1_input", "0");
  Write("power1_input", "1");
  Write("in1_input", "1");
  Write("curr1_input", "1");
  EXPECT_THAT(Zones(), ElementsAre("x_energy1 energy1_input"));
}

TEST_F(DeviceTest, FindSensors_Power_PrefersTheAverageAndUsesLabels) {
  Write("name", "x");
  Write("power1_input", "1");
  Write("power1_average", "1");
  Write("power1_label", "SoC Power");
  Write("power2_input", "1");
  Write("power2_label", "...");
  Write("power3_cap", "1");
  EXPECT_THAT(Zones(), ElementsAre("soc_power power1_average", "x_power2 power2_input"));
}

TEST_F(DeviceTest, FindSensors_DisabledChannels_AreLeftOut) {
  Write("name", "x");
  Write("power1_input", "1");
  Write("power1_enable", "0");
  Write("power2_input", "1");
  Write("power2_enable", "1");
  Write("power3_input", "1");
  Write("power3_enable", "");
  EXPECT_THAT(Zones(), ElementsAre("x_power2 power2_input", "x_power3 power3_input"));
}

TEST_F(DeviceTest, FindSensors_EverySensorOfATierDisabled_TheNextTierServes) {
  Write("name", "x");
  Write("power1_input", "1");
  Write("power1_enable", "0");
  Write("in1_input", "1");
  Write("curr1_input", "1");
  EXPECT_THAT(Zones(), ElementsAre("x_power1 in1_input"));
}

TEST_F(DeviceTest, FindSensors_VoltageAndCurrent_AreAProductNamedByLabel) {
  Write("name", "ina3221");
  Write("in1_input", "5000");
  Write("in1_label", "VDD_CPU");
  Write("curr1_input", "1000");
  Write("in4_input", "7");
  Write("curr4_input", "7");
  const auto sensors = FindSensors(Read(), FindRule({}, "ina3221"), buffer_);
  ASSERT_TRUE(sensors);
  ASSERT_EQ(sensors->size(), 1u);
  EXPECT_EQ((*sensors)[0].kind, SensorKind::kProduct);
  EXPECT_EQ((*sensors)[0].zone, "vdd_cpu");
  EXPECT_THAT((*sensors)[0].path, EndsWith("in1_input"));
  EXPECT_THAT((*sensors)[0].current, EndsWith("curr1_input"));
}

TEST_F(DeviceTest, FindSensors_PairOfDifferentIndices_IsNamedByTheVoltageAsUpstreamDoes) {
  Write("name", "max20730");  // in2 belongs to curr1
  Write("in2_input", "1");
  Write("curr1_input", "1");
  Write("curr1_label", "iout1");
  EXPECT_THAT(Zones(FindRule({}, "max20730")), ElementsAre("max20730_power2 in2_input"));
  Write("in2_label", "VOut 1");
  EXPECT_THAT(Zones(FindRule({}, "max20730")), ElementsAre("vout_1 in2_input"));
}

TEST_F(DeviceTest, FindSensors_TwoVoltagesOfOneCurrent_HaveKeysOfTheirOwn) {
  Write("name", "x");
  Write("in1_input", "1");
  Write("in2_input", "1");
  Write("curr1_input", "1");
  const ChipRule rule{"x", {{1, 1}, {2, 1}}, {}, {}, false};
  const auto sensors = FindSensors(Read(), &rule, buffer_);
  ASSERT_TRUE(sensors);
  ASSERT_EQ(sensors->size(), 2u);
  EXPECT_NE((*sensors)[0].key, (*sensors)[1].key);
}

TEST_F(DeviceTest, FindSensors_Averages_OnlyIfBothHaveOne) {
  Write("name", "x");
  Write("in1_average", "1");
  Write("in1_input", "1");
  Write("curr1_input", "1");
  Write("in2_average", "1");
  Write("curr2_average", "1");
  Write("in3_average", "1");
  Write("curr3_input", "1");
  EXPECT_THAT(Zones(), ElementsAre("x_power1 in1_input", "x_power2 in2_average"));
}

TEST_F(DeviceTest, FindSensors_UnpairableCurrents_SaysWhatWouldHelp) {
  Write("name", "x");
  Write("in1_input", "1");
  Write("curr2_input", "1");
  EXPECT_THAT(Zones()[0], HasSubstr("chipRules"));
}

TEST_F(DeviceTest, FindSensors_OnlyTemperatures_SaysSo) {
  Write("name", "coretemp");
  Write("temp1_input", "45000");
  EXPECT_THAT(Zones()[0], HasSubstr("no energy or power sensor"));
}

TEST_F(DeviceTest, FindSensors_AmdEnergy_CoresAreOneZone) {
  Write("name", "amd_energy");
  Write("energy1_input", "1");
  Write("energy1_label", "Ecore000");
  Write("energy2_input", "1");
  Write("energy2_label", "Ecore001");
  Write("energy3_input", "1");
  Write("energy3_label", "Esocket0");
  EXPECT_THAT(Zones(), ElementsAre("core energy1_input", "core energy2_input", "socket energy3_input"));
}

}  // namespace
}  // namespace kepler::energy::hwmon
