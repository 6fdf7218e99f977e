#include "apps/kepler/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "apps/kepler/config.h"
#include "energy/hwmon/chip_rules.h"
#include "model/model_json.h"
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

/// The names of the models that an agent has from the start.
class ModelsAtTheStart : public ::testing::Test {
 protected:
  ModelsAtTheStart() {
    for (const char* name : {"a", "b"}) {
      model::PowerModel power;
      power.name = name;
      power.features = {"cpu_cycles"};
      power.components.emplace_back().predictor.formula = model::Linear{.bias = 1, .weights = {1}};
      tree_.Write(std::string(name) + ".json", model::WriteModelJson(power));
    }
  }
  ~ModelsAtTheStart() override { unsetenv("MODEL_CONFIG"); }
  [[nodiscard]] std::string Names() const {
    const auto board = std::make_shared<model::ModelBoard>();
    const testing::FakeClock clock;
    const auto store = MakeModelStore(config_, clock, board);
    if (store) store->LoadLocal();
    std::string names;
    for (const auto& known : *board->Latest()) names += known.model.name;
    return names;
  }

  testing::FakeTree tree_;
  Config config_;
};

TEST_F(ModelsAtTheStart, AreThoseOfModelSources_ElseOfModelConfig) {
  setenv("MODEL_CONFIG", ("NODE_TOTAL_INIT_URL=file://" + tree_.Path("a.json") + " MORE=1").c_str(), 1);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Names(), "a");
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("no key is called MORE"));
  config_.model_sources = {tree_.Path("b.json")};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Names(), "b");
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("MODEL_CONFIG is not read"));
  config_.model_sources = {tree_.root()};
  unsetenv("MODEL_CONFIG");
  EXPECT_EQ(Names(), "ab");
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
