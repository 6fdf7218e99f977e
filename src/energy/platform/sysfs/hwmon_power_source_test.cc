#include "energy/platform/sysfs/hwmon_power_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::platform::sysfs {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HwmonPowerSourceTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) { tree_.Write("class/hwmon/" + file, text + "\n"); }
  /// As the kernel shows it: the files are in the ACPI device.
  void AcpiMeter(int number, const std::string& microwatts, const std::string& oem_info = "",
                 const std::string& measures = "") {
    const std::string device = "devices/LNXSYSTM:00/ACPI000D:0" + std::to_string(number);
    tree_.Write(device + "/name", "power_meter\n");
    tree_.Write(device + "/power1_average", microwatts + "\n");
    tree_.Write(device + "/power1_oem_info", oem_info + "\n");
    if (!measures.empty()) {
      tree_.MakeDir("devices/" + measures);
      tree_.Symlink(device + "/measures/device", tree_.Path("devices/" + measures));
    }
    tree_.Symlink("class/hwmon/hwmon" + std::to_string(number) + "/device", tree_.Path(device));
  }
  void Corsair() {
    Write("hwmon5/name", "corsairpsu");
    const char* const labels[] = {"power total", "power +12v", "power +5v", "power +3.3v"};
    for (int i = 1; i <= 4; ++i) {
      Write("hwmon5/power" + std::to_string(i) + "_label", labels[i - 1]);
      Write("hwmon5/power" + std::to_string(i) + "_input", std::to_string(i) + "00000000");
    }
  }
  HwmonPowerSource& Source(HwmonPowerKind kind) {
    source_ = std::make_unique<HwmonPowerSource>(tree_.root(), kind, testing::Lend(clock_));
    return *source_;
  }
  /// "id name whole" of each sensor.
  std::vector<std::string> Sensors(HwmonPowerKind kind) {
    const auto domains = Source(kind).Discover();
    if (!domains) return {domains.error().message};
    std::vector<std::string> sensors;
    for (const Domain& domain : *domains)
      sensors.push_back(domain.sensor->source_id + " " + domain.sensor->source_name +
                        (domain.sensor->whole ? " whole" : " part"));
    return sensors;
  }
  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::unique_ptr<HwmonPowerSource> source_;
  std::vector<DomainReading> readings_;
};

TEST_F(HwmonPowerSourceTest, Discover_AcpiMeter_MeasuresTheMachine) {
  EXPECT_FALSE(HwmonPowerSource::IsPresent(tree_.root(), HwmonPowerKind::kAcpi));
  Corsair();
  EXPECT_FALSE(HwmonPowerSource::IsPresent(tree_.root(), HwmonPowerKind::kAcpi));
  AcpiMeter(0, "210000000");
  EXPECT_TRUE(HwmonPowerSource::IsPresent(tree_.root(), HwmonPowerKind::kAcpi));
  EXPECT_THAT(Sensors(HwmonPowerKind::kAcpi), ElementsAre("ACPI000D:00/power1 power_meter whole"));
}

TEST_F(HwmonPowerSourceTest, Discover_Grace_OnlyTheModulesAreOfTheMachine) {
  AcpiMeter(0, "210000000", "Module Power Socket 0");
  AcpiMeter(1, "150000000", "Grace Power Socket 0");
  AcpiMeter(2, "100000000", "CPU Power Socket 0");
  AcpiMeter(3, "220000000", "Module Power Socket 1");
  EXPECT_THAT(Sensors(HwmonPowerKind::kAcpi),
              ElementsAre("ACPI000D:00/power1 module_power whole", "ACPI000D:03/power1 module_power whole"));
}

TEST_F(HwmonPowerSourceTest, Discover_SeveralAcpiMeters_AreAddedOnlyIfTheyMeasureDifferentDevices) {
  AcpiMeter(0, "210000000", "", "LNXSYSTM:00/bus");
  AcpiMeter(1, "150000000", "", "LNXSYSTM:00/bus/module");
  EXPECT_THAT(Sensors(HwmonPowerKind::kAcpi),
              ElementsAre("ACPI000D:00/power1 power_meter whole", "ACPI000D:01/power1 power_meter part"));
  AcpiMeter(2, "200000000");
  EXPECT_THAT(Sensors(HwmonPowerKind::kAcpi), Each(HasSubstr(" part"))) << "it may contain the others";
  EXPECT_THAT((*source_->Discover())[0].doubt, HasSubstr("none counts in the total"));
}

TEST_F(HwmonPowerSourceTest, Discover_AcpiMeterWithoutSensor_TheOtherIsNotTheMachine) {
  AcpiMeter(1, "150000000");
  AcpiMeter(0, "");
  tree_.Remove("devices/LNXSYSTM:00/ACPI000D:00/power1_average");
  EXPECT_THAT(Sensors(HwmonPowerKind::kAcpi), ElementsAre("ACPI000D:01/power1 power_meter part"));
  EXPECT_THAT((*source_->Discover())[0].doubt, HasSubstr("without a sensor"));
}

TEST_F(HwmonPowerSourceTest, Discover_PowerSupply_RailsArePartsOfItsTotal) {
  Corsair();
  EXPECT_TRUE(HwmonPowerSource::IsPresent(tree_.root(), HwmonPowerKind::kPsu));
  EXPECT_THAT(Sensors(HwmonPowerKind::kPsu),
              ElementsAre(HasSubstr("power1 power_total whole"), HasSubstr("power2 power__12v part"),
                          HasSubstr("power3 power__5v part"), HasSubstr("power4 power__3_3v part")));
}

TEST_F(HwmonPowerSourceTest, Discover_OneSupplyWithoutInput_TheOtherIsNotTheMachine) {
  Corsair();
  Write("hwmon6/name", "pfe1100");
  Write("hwmon6/power1_label", "pout1");
  Write("hwmon6/power1_input", "100000000");
  Write("hwmon6/power2_label", "pout2");
  Write("hwmon6/power2_input", "100000000");
  EXPECT_THAT(Sensors(HwmonPowerKind::kPsu), Each(HasSubstr(" part")));
  EXPECT_THAT((*source_->Discover())[0].doubt, HasSubstr("show no input power: " + tree_.Path("class/hwmon/hwmon6")));
  Write("hwmon6/power1_label", "pin");
  EXPECT_THAT(Sensors(HwmonPowerKind::kPsu), Contains(HasSubstr("power1 pin whole")));
  EXPECT_EQ((*source_->Discover())[0].doubt, "");
}

TEST_F(HwmonPowerSourceTest, Discover_ChipWithoutSensor_ErrorSaysWhy) {
  Write("hwmon0/name", "corsairpsu");
  Write("hwmon0/temp1_input", "40000");
  EXPECT_THAT(Sensors(HwmonPowerKind::kPsu),
              ElementsAre(AllOf(HasSubstr("no psu power sensor"), HasSubstr("hwmon0 is not used: it has no energy"))));
}

TEST_F(HwmonPowerSourceTest, Read_PowerOrErrorOfOneSensor) {
  AcpiMeter(0, "123456000");
  AcpiMeter(1, "-5");
  AcpiMeter(2, "twelve");
  ASSERT_TRUE(Source(HwmonPowerKind::kAcpi).Discover());
  source_->Read(readings_);
  ASSERT_EQ(readings_.size(), 3);
  EXPECT_EQ(std::get<Power>(readings_[0].value), Power::Watts(123.456));
  EXPECT_THAT(std::get<Error>(readings_[1].value).message, HasSubstr("power1_average: a power of -5 uW is impossible"));
  EXPECT_THAT(std::get<Error>(readings_[2].value).message, HasSubstr("\"twelve\" is not a whole number"));
  tree_.Remove("devices/LNXSYSTM:00/ACPI000D:00/power1_average");
  source_->Read(readings_);
  EXPECT_EQ(std::get<Error>(readings_[0].value).kind, ErrorKind::kNotFound);
}

TEST_F(HwmonPowerSourceTest, HasChanged_NewDevice_True) {
  AcpiMeter(0, "1");
  ASSERT_TRUE(Source(HwmonPowerKind::kAcpi).Discover());
  EXPECT_FALSE(source_->HasChanged());
  AcpiMeter(1, "1");
  EXPECT_TRUE(source_->HasChanged());
}

}  // namespace
}  // namespace kepler::energy::platform::sysfs
