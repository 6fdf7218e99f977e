#include "energy/rapl/counter_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::energy::rapl {
namespace {

using os::PlacedCpu;
using ::testing::ElementsAre;

std::vector<std::string> Keys(const std::vector<PlacedCounter>& counters) {
  std::vector<std::string> keys;
  keys.reserve(counters.size());
  for (const PlacedCounter& counter : counters)
    keys.push_back(counter.domain.key + " " + counter.domain.path.substr(std::string("/sys/class/powercap/").size()));
  return keys;
}

/// The zones that Linux 6.1 creates for two sockets of Skylake.
TEST(CounterLayoutTest, LayOut_TwoSockets_HasTheKeysAndPathsOfPowercap) {
  const std::vector<PlacedCpu> places = {{0, {0, {}}}, {18, {1, {}}}};
  const std::vector kinds = {CounterKind::kPackage, CounterKind::kCore, CounterKind::kDram, CounterKind::kPsys};
  EXPECT_THAT(
      Keys(LayOut("/sys", places, kinds)),
      ElementsAre("package@0 intel-rapl:0", "core@0 intel-rapl:0:0", "dram@0 intel-rapl:0:1", "psys@- intel-rapl:1",
                  "package@1 intel-rapl:2", "core@1 intel-rapl:2:0", "dram@1 intel-rapl:2:1", "psys@1 intel-rapl:3"));
}

TEST(CounterLayoutTest, LayOut_Dies_EachHasAPackageZoneAndOneHasThePlatform) {
  const std::vector<PlacedCpu> places = {{0, {0, 0}}, {8, {0, 1}}};
  const std::vector kinds = {CounterKind::kPackage, CounterKind::kPsys};
  EXPECT_THAT(Keys(LayOut("/sys", places, kinds)),
              ElementsAre("package@0.0 intel-rapl:0", "psys@- intel-rapl:1", "package@0.1 intel-rapl:2"));
}

TEST(CounterLayoutTest, OnePerPart_PackagesOrDies_TheFirstCpuOfEach) {
  const std::vector<PlacedCpu> cpus = {{0, {1, 0}}, {1, {0, 0}}, {2, {1, 1}}, {3, {0, 0}}};
  const auto packages = OnePerPart(cpus, false);
  ASSERT_EQ(packages.size(), 2u);
  EXPECT_EQ(packages[0].cpu, 1u);
  EXPECT_EQ(packages[0].part, (os::CpuPart{0, {}}));
  EXPECT_EQ(packages[1].cpu, 0u);
  const auto dies = OnePerPart(cpus, true);
  ASSERT_EQ(dies.size(), 3u);
  EXPECT_EQ(dies[2].cpu, 2u);
  EXPECT_EQ(dies[2].part, (os::CpuPart{1, 1}));
}

TEST(ZoneChoiceTest, Takes_ListOrAll_AmdCoreOnlyIfNamed) {
  const ZoneChoice all({" ", ""});
  EXPECT_TRUE(all.all());
  EXPECT_TRUE(all.Takes("core", false));
  EXPECT_FALSE(all.Takes("core", true));
  const ZoneChoice some({" Core", "PSYS"});
  EXPECT_TRUE(some.Takes("core", true));
  EXPECT_TRUE(some.Takes("psys", true));
  EXPECT_FALSE(some.Takes("package", true));
}

}  // namespace
}  // namespace kepler::energy::rapl
