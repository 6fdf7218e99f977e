#include "energy/hwmon/hwmon_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/meter.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::hwmon {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HwmonSourceTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) { tree_.Write("class/hwmon/" + file, text + "\n"); }
  void Power(const std::string& directory, const std::string& chip, const std::string& label,
             const std::string& value = "1") {
    Write(directory + "/name", chip);
    Write(directory + "/power1_label", label);
    Write(directory + "/power1_input", value);
  }
  Result<std::vector<Domain>> Discover(HwmonOptions options = {}) {
    source_ = std::make_unique<HwmonSource>(tree_.root(), std::move(options), clock_);
    return source_->Discover();
  }
  std::vector<std::string> Zones(HwmonOptions options = {}) {
    const auto domains = Discover(std::move(options));
    if (!domains) return {domains.error().message};
    std::vector<std::string> zones;
    for (const Domain& domain : *domains) zones.push_back(domain.zone);
    return zones;
  }
  const Answer& ReadOnly() {
    source_->Read(readings_);
    return readings_.at(0).value;
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::unique_ptr<HwmonSource> source_;
  std::vector<DomainReading> readings_;
};

TEST_F(HwmonSourceTest, Discover_ManyChips_OnlyThoseOfTheCpuAreUsed) {
  Power("hwmon0", "nvme", "Composite");
  Power("hwmon1", "scmi_hwmon", "input");
  Power("hwmon2", "amdgpu", "PPT");
  Power("hwmon3", "BAT0", "battery");
  Power("hwmon4", "zenpower", "SVI2_P_Core");
  EXPECT_THAT(Zones(), ElementsAre("input", "svi2_p_core"));
}

TEST_F(HwmonSourceTest, Discover_OnlyForeignChips_ErrorNamesThemAndTheRemedy) {
  Power("hwmon0", "amdgpu", "PPT");
  Write("hwmon1/name", "coretemp");
  const auto domains = Discover();
  ASSERT_FALSE(domains);
  EXPECT_EQ(domains.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(domains.error().message,
              HasSubstr("amdgpu (not a known CPU meter; to use it add it to experimental.hwmon.chips"));
  EXPECT_THAT(domains.error().message, HasSubstr("coretemp"));
}

TEST_F(HwmonSourceTest, Discover_AcpiPowerMeter_IsNoCpuMeterUnlessTheUserSaysSo) {
  Write("hwmon0/name", "power_meter");
  Write("hwmon0/power1_average", "210000000");
  EXPECT_THAT(Zones(),
              ElementsAre(HasSubstr("power_meter (it measures the whole machine, see platform.preferredMeters)")));
  EXPECT_THAT(Zones({.chips = {"power_meter"}}), ElementsAre("power_meter_power1"));
}

TEST_F(HwmonSourceTest, Discover_AcpiPowerMetersOfGrace_CpuSensorsAreZonesOfAllSockets) {
  const char* const sensors[] = {"Module Power Socket 0", "Grace Power Socket 0", "CPU Power Socket 0",
                                 "CPU Power Socket 1"};
  for (int i = 0; i < 4; ++i) {
    const std::string directory = "hwmon" + std::to_string(i);
    Write(directory + "/name", "power_meter");
    Write(directory + "/power1_average", "100000000");
    Write(directory + "/power1_oem_info", sensors[i]);
  }
  EXPECT_THAT(Zones(), ElementsAre("cpu_power", "cpu_power", "grace_power"));
}

TEST_F(HwmonSourceTest, Discover_ChipsOption_ReplacesTheBuiltInList) {
  Power("hwmon0", "amdgpu", "PPT");
  Power("hwmon1", "zenpower", "input");
  EXPECT_THAT(Zones({.chips = {"AMDGPU"}}), ElementsAre("ppt"));
}

TEST_F(HwmonSourceTest, Discover_UserRuleForAChip_AdmitsIt) {
  Write("hwmon0/name", "myboard");
  Write("hwmon0/in0_input", "1");
  Write("hwmon0/curr3_input", "1");
  EXPECT_THAT(Zones({.chip_rules = {{"myboard", {{0, 3}}, {}, {}, false}}}), ElementsAre("myboard_power0"));
}

TEST_F(HwmonSourceTest, Discover_ZonesOption_AdmitsAnyChipThatHasThem) {
  Power("hwmon0", "amdgpu", "PPT");
  Power("hwmon1", "zenpower", "input");
  EXPECT_THAT(Zones({.zones = {" ppt "}}), ElementsAre("ppt"));
  const auto none = Discover({.zones = {"package"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(none.error().message, HasSubstr("input, ppt"));
}

TEST_F(HwmonSourceTest, Read_PowerSensor_IsInMicrowatts) {
  Power("hwmon0", "zenpower", "p", "123456000");
  ASSERT_TRUE(Discover());
  EXPECT_DOUBLE_EQ(std::get<kepler::Power>(ReadOnly()).watts(), 123.456);
}

TEST_F(HwmonSourceTest, Read_NegativePower_IsZeroNotAnError) {
  Power("hwmon0", "zenpower", "p", "-42");
  ASSERT_TRUE(Discover());
  EXPECT_EQ(std::get<kepler::Power>(ReadOnly()), kepler::Power());
}

TEST_F(HwmonSourceTest, Read_VoltageTimesCurrent_NegativeProductIsZero) {
  Write("hwmon0/name", "ina219");
  Write("hwmon0/in1_input", "12000");
  Write("hwmon0/curr1_input", "2500");
  ASSERT_TRUE(Discover());
  EXPECT_DOUBLE_EQ(std::get<kepler::Power>(ReadOnly()).watts(), 30.0);
  Write("hwmon0/curr1_input", "-2500");
  EXPECT_EQ(std::get<kepler::Power>(ReadOnly()), kepler::Power());
  Write("hwmon0/in1_input", "");
  EXPECT_EQ(std::get<Error>(ReadOnly()).kind, ErrorKind::kMalformed);
}

TEST_F(HwmonSourceTest, Read_HugeValues_DoNotOverflow) {
  Write("hwmon0/name", "ina219");
  Write("hwmon0/in1_input", "9223372036854775807");
  Write("hwmon0/curr1_input", "9223372036854775807");
  ASSERT_TRUE(Discover());
  EXPECT_GT(std::get<kepler::Power>(ReadOnly()).watts(), 1e30);
}

TEST_F(HwmonSourceTest, Read_EnergySensorAtZero_IsACounterAllTheSame) {
  Write("hwmon0/name", "xgene");
  Write("hwmon0/energy1_input", "0");
  const auto domains = Discover();
  ASSERT_TRUE(domains);
  EXPECT_TRUE(domains->at(0).is_summed);
  EXPECT_EQ(std::get<RawCounter>(ReadOnly()).microjoules, 0u);
}

TEST_F(HwmonSourceTest, Meter_SameSensorOnTwoChips_EachHasItsOwnMemory) {
  for (const char* directory : {"hwmon0", "hwmon1"}) {
    Write(std::string(directory) + "/name", "xgene");
    Write(std::string(directory) + "/energy1_label", "CPU");
    Write(std::string(directory) + "/energy1_input", "0");
  }
  Meter meter(std::make_unique<HwmonSource>(tree_.root(), HwmonOptions{}, clock_), clock_);
  ASSERT_TRUE(meter.Open());
  meter.Sample();
  EXPECT_THAT(
      meter.zones()[0],
      (status::Zone{.name = "cpu", .path = "aggregated-cpu", .source = "hwmon", .resolution = {.joules = 1e-6}}));
  Write("hwmon0/energy1_input", "10000000");
  Write("hwmon1/energy1_input", "7000000");
  clock_.Advance(5s);
  meter.Sample();
  EXPECT_EQ(meter.deltas()[0].energy, Energy::Joules(17));
}

TEST_F(HwmonSourceTest, Meter_ChipAppears_IsFoundWithoutARestart) {
  Power("hwmon0", "zenpower", "input", "100000000");
  Meter meter(std::make_unique<HwmonSource>(tree_.root(), HwmonOptions{}, clock_), clock_);
  ASSERT_TRUE(meter.Open());
  meter.Sample();
  Power("hwmon1", "zenpower", "core", "50000000");
  for (int i = 0; i < 2; ++i) {
    clock_.Advance(10s);
    meter.Sample();
  }
  ASSERT_EQ(meter.zones().size(), 2u);
  EXPECT_DOUBLE_EQ(meter.deltas()[1].power.watts(), 50.0);
}

TEST_F(HwmonSourceTest, Meter_ChipNumberedAnewAfterReload_IsTheSameDomain) {
  tree_.Write("devices/platform/apm.0/uevent", "");
  Write("hwmon0/name", "xgene");
  Write("hwmon0/energy1_input", "1000000");
  tree_.Symlink("class/hwmon/hwmon0/device", "../../../devices/platform/apm.0");
  Meter meter(std::make_unique<HwmonSource>(tree_.root(), HwmonOptions{}, clock_), clock_);
  ASSERT_TRUE(meter.Open());
  meter.Sample();
  const status::Zone before = meter.zones()[0];
  tree_.Remove("class/hwmon/hwmon0");
  clock_.Advance(5s);
  meter.Sample();
  Write("hwmon7/name", "xgene");
  Write("hwmon7/energy1_input", "3000000");
  tree_.Symlink("class/hwmon/hwmon7/device", "../../../devices/platform/apm.0");
  clock_.Advance(5s);
  meter.Sample();
  ASSERT_EQ(meter.zones().size(), 1u);
  EXPECT_EQ(meter.zones()[0], before) << "the series must not change its identity";
  EXPECT_EQ(meter.deltas()[0].energy, Energy::Joules(2));
}

}  // namespace
}  // namespace kepler::energy::hwmon
