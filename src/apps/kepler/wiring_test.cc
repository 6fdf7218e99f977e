#include "apps/kepler/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/kepler/config.h"
#include "energy/hwmon/chip_rules.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::agent {
namespace {

using ::testing::HasSubstr;

/// What MakeMeters() says at --log.level=warn on a machine without a meter.
std::string WarningsWithoutMeter(std::vector<Meter> preferred) {
  const testing::FakeTree sys;
  const testing::FakeClock clock;
  Config config;
  config.host.sysfs = sys.root();
  config.preferred_meters = std::move(preferred);
  ::testing::internal::CaptureStdout();
  log::SetLevel(log::Level::kWarn);
  const auto meters = MakeMeters(config, clock, std::make_shared<os::ProcStatReader>(config.host.procfs, clock));
  log::SetLevel(log::Level::kInfo);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(meters);
  return log;
}

TEST(MakeMeters, NoMeterAtLogLevelWarn_TheLineHasTheCauseOfEach) {
  const std::string log = WarningsWithoutMeter({Meter::kRapl, Meter::kHwmon});
  EXPECT_THAT(log, HasSubstr("no meter can be read"));
  EXPECT_THAT(log, HasSubstr("rapl: list "));
  EXPECT_THAT(log, HasSubstr("hwmon: list "));
}

TEST(MakeMeters, NoMeterIsPreferred_TheLineSaysSo) {
  EXPECT_THAT(WarningsWithoutMeter({}), HasSubstr("cpu.preferredMeters names none"));
}

/// The words of the table are held to the meters.
TEST(Schema, HelpOfTheChips_NamesTheBuiltInList) {
  const std::string_view help = settings::KeyAt(kTable.keys, "experimental.hwmon.chips").help;
  std::string list;
  for (const std::string_view chip : energy::hwmon::CpuChips()) list += std::string(chip) + ", ";
  list += "and all whose names begin with ";
  std::string families;
  for (const std::string_view family : energy::hwmon::CpuChipFamilies())
    families += (families.empty() ? "" : ", ") + std::string(family);
  EXPECT_THAT(help, HasSubstr("empty: " + list + families));
}

}  // namespace
}  // namespace kepler::agent
