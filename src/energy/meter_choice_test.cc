#include "energy/meter_choice.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace kepler::energy {
namespace {

using Part = status::Domain;

constexpr auto kMeasured = Authority::kMeasured;
constexpr auto kEstimated = Authority::kEstimated;

struct Row {
  std::string name;
  SourceFacts source;
  CpuFacts cpu;
  Use use;
  std::optional<Authority> answering{};
};

constexpr SourceFacts kWhole{.domain = Part::kPlatform, .authority = kEstimated};
constexpr SourceFacts kLoadOfWhole{.domain = Part::kPlatform, .authority = kEstimated, .only_load = true};
constexpr SourceFacts kOpenWhole{.domain = Part::kPlatform, .authority = kEstimated, .open = true};
constexpr CpuFacts kPackage{.has_package = true};
constexpr CpuFacts kLoad{.has_package = true, .only_load = true, .replacement_only_load = true};
constexpr CpuFacts kUnproven{.has_package = true, .replacement_only_load = true};

const std::vector<Row>& Table() {
  static const std::vector<Row> kTable = {
      {"a second meter of the CPUs", {Part::kCpu, kMeasured}, kPackage, Use::kRefused},
      {"a second estimate of the CPUs", {Part::kCpu, kEstimated}, {}, Use::kRefused},
      {"a power supply", {Part::kPlatform, kMeasured}, kPackage, Use::kCounted},
      {"a power supply next to psys", {Part::kPlatform, kMeasured}, {true, true, false, false}, Use::kCounted},
      {"a power supply in a guest", {Part::kPlatform, kMeasured}, kUnproven, Use::kCounted},
      {"a device", {Part::kGpu, kMeasured}, {}, Use::kCounted},
      {"an estimated device", {Part::kGpu, kEstimated}, {}, Use::kCounted},
      {"a fan", {Part::kOther, kMeasured}, {}, Use::kCounted},
      {"the whole, packages are metered", kWhole, kPackage, Use::kCounted},
      {"the whole, only dram is metered", kWhole, {}, Use::kWaiting},
      {"the whole, psys is metered", kWhole, {true, true, false, false}, Use::kWaiting},
      {"the whole, the CPUs are estimated by load", kWhole, kLoad, Use::kWaiting},
      {"the whole, an estimate by load may replace the meter", kWhole, kUnproven, Use::kWaiting},
      {"the load, packages are metered", kLoadOfWhole, kPackage, Use::kWaiting},
      {"the load, the CPUs are estimated by load", kLoadOfWhole, kLoad, Use::kCounted},
      {"the load, an estimate by load may replace the meter", kLoadOfWhole, kUnproven, Use::kWaiting},
      {"an open whole, the CPUs are estimated by load now", kOpenWhole, kLoad, Use::kCounted},
      {"an open whole, psys is metered now", kOpenWhole, {true, true, false, false}, Use::kCounted, kEstimated},
      {"an open whole, a power supply answers", kOpenWhole, kPackage, Use::kWaiting, kMeasured},
      {"the whole, a power supply answers", kWhole, kPackage, Use::kWaiting, kMeasured},
      {"a power supply, only an estimate answers", {Part::kPlatform, kMeasured}, kPackage, Use::kCounted, kEstimated},
      {"a second power supply", {Part::kPlatform, kMeasured}, kPackage, Use::kCounted, kMeasured},
      {"the load, no package", kLoadOfWhole, {false, false, true, true}, Use::kWaiting},
  };
  return kTable;
}

TEST(MeterChoice, DecisionTable) {
  for (const Row& row : Table()) EXPECT_EQ(UseOf(row.source, row.cpu, row.answering), row.use) << row.name;
}

TEST(MeterChoice, FactsOfTheZones) {
  const auto facts = [](std::initializer_list<std::string> names) {
    std::vector<status::Zone> zones;
    for (const std::string& name : names) zones.push_back({name, "p", "rapl"});
    return FactsOf(zones);
  };
  EXPECT_FALSE(facts({"dram", "core"}).has_package);
  EXPECT_TRUE(facts({"dram", "Package"}).has_package);
  EXPECT_FALSE(facts({"package"}).has_platform);
  EXPECT_TRUE(facts({"package", "PSYS"}).has_platform);
  EXPECT_TRUE(facts({"platform"}).has_platform);
}

}  // namespace
}  // namespace kepler::energy
