#include "energy/rapl/msr_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "energy/rapl/metered_source_test_util.h"
#include "energy/rapl/msr_test_util.h"

namespace kepler::energy::rapl {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kCountsPerJoule = 16'384;

class MsrSourceTest : public MeteredSourceTest {
 protected:
  MsrSourceTest() {
    machine_.Processor("0000", "0006", "0055");
    machine_.Online("0-3");
    for (const uint32_t cpu : {0U, 1U, 2U, 3U}) machine_.Cpu(cpu, cpu / 2);
    for (const uint32_t cpu : {0U, 1U, 2U, 3U}) Package(cpu, 100 * kCountsPerJoule);
  }
  void Package(uint32_t cpu, uint32_t count) {
    machine_.Set(cpu, kUnitMsr, kUnit14);
    machine_.Set(cpu, kPackageMsr, count);
    machine_.Set(cpu, kDramMsr, count);
  }
  std::unique_ptr<MsrSource> Make(const std::vector<std::string>& zones) {
    return std::make_unique<MsrSource>(tree_.root(), zones, machine_.device_path(), clock_);
  }
  Result<std::vector<Domain>> Discover(const std::vector<std::string>& zones = {}) {
    source_ = Make(zones);
    return source_->Discover();
  }
  void StartMeter(const std::vector<std::string>& zones = {}) { Start(Make(zones)); }

  MsrMachine machine_{tree_};
  std::unique_ptr<MsrSource> source_;
};

TEST_F(MsrSourceTest, Discover_TwoSockets_ZonesPathsAndRangesOfTheRegistersThatCount) {
  const auto domains = Discover();
  ASSERT_THAT(Keys(domains), ElementsAre("package@0", "dram@0", "package@1", "dram@1"));
  EXPECT_EQ((*domains)[3].path, tree_.Path("class/powercap/intel-rapl:1:0"));
  EXPECT_EQ((*domains)[0].range, 262'143'999'999u);
  EXPECT_EQ((*domains)[1].range, 65'535'999'999u) << "15.3 uJ on this server";
  EXPECT_EQ((*domains)[0].resolution.joules, 1.0 / (1 << 14));
  EXPECT_EQ((*domains)[1].resolution.joules, 1.0 / (1 << 16));
}

TEST_F(MsrSourceTest, Discover_ClientChip_HasAllFiveZones) {
  machine_.Processor("0000", "0006", "009E");
  machine_.Online("0-1");
  for (const uint32_t address : {kCoreMsr, kUncoreMsr, kPsysMsr}) machine_.Set(0, address, 5);
  EXPECT_THAT(Keys(Discover()), ElementsAre("package@0", "core@0", "uncore@0", "dram@0", "psys@-"));
  EXPECT_THAT(Keys(Discover({"PSYS"})), ElementsAre("psys@-"));
  const auto none = Discover({"gpu"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(none.error().message, HasSubstr("package, core, uncore, dram, psys"));
}

TEST_F(MsrSourceTest, Discover_Dies_EachIsAPackageZoneOnIntel) {
  machine_.Cpu(1, 0, 1);
  machine_.Cpu(3, 1, 1);
  EXPECT_THAT(Keys(Discover({"package"})), ElementsAre("package@0.0", "package@0.1", "package@1.0", "package@1.1"));
}

TEST_F(MsrSourceTest, Discover_Amd_OneCounterPerSocketWhateverItsDies) {
  machine_.Processor("0002", "0019", "0001");
  machine_.Cpu(1, 0, 1);
  machine_.Online("0-1");
  // The numbers of the registers follow each other, so in a file their bytes overlap: unit, core, package.
  for (const uint32_t cpu : {0U, 1U}) machine_.Set(cpu, 0xC0010299, 0x1003 | uint64_t{65'536} << 16);
  EXPECT_THAT(Keys(Discover()), ElementsAre("package@0"));
  std::vector<DomainReading> readings;
  source_->Read(readings);
  EXPECT_EQ(std::get<RawCounter>(readings[0].value).microjoules, 1'000'000u);
  const auto core = Discover({"core"});
  EXPECT_THAT(Keys(core), ElementsAre("core@0"));
  EXPECT_THAT((*core)[0].note, HasSubstr("a single core"));
}

/// Every RAPL register of QEMU's processors can be read and is 0.
TEST_F(MsrSourceTest, Discover_RegistersAreZero_AreRefused) {
  for (const uint32_t cpu : {0U, 2U}) machine_.Set(cpu, kPackageMsr, 0);
  const auto no_counter = Discover();
  ASSERT_FALSE(no_counter);
  EXPECT_EQ(no_counter.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(no_counter.error().message, HasSubstr("the package counter of RAPL reads 0 in"));
  for (const uint32_t cpu : {0U, 2U}) machine_.Set(cpu, kUnitMsr, 0);
  EXPECT_THAT(Discover().error().message, HasSubstr("the energy unit of RAPL reads 0 in"));
}

TEST_F(MsrSourceTest, Discover_OtherProcessorNoDeviceNoTopology_SaysWhatIsMissing) {
  machine_.Processor("0005", "0006", "000F");
  EXPECT_THAT(Discover().error().message, HasSubstr("no RAPL registers"));
  machine_.Processor("0000", "0006", "0055");
  tree_.Remove("dev");
  const auto no_device = Discover();
  EXPECT_EQ(no_device.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(no_device.error().message, HasSubstr("dev/cpu/0/msr"));
  EXPECT_THAT(no_device.error().message, HasSubstr("load the msr module and grant CAP_SYS_RAWIO"));
  for (const int cpu : {0, 1, 2, 3}) tree_.Remove("devices/system/cpu/cpu" + std::to_string(cpu));
  EXPECT_THAT(Discover().error().message, HasSubstr("does not show the package of any CPU"));
}

TEST_F(MsrSourceTest, Discover_DeviceIsAPipe_DoesNotWait) {
  for (const uint32_t cpu : {0U, 2U}) {
    tree_.Remove(MsrMachine::File(cpu));
    ASSERT_EQ(::mkfifo(tree_.Path(MsrMachine::File(cpu)).c_str(), 0600), 0);
  }
  EXPECT_FALSE(Discover());
}

TEST_F(MsrSourceTest, CounterWraps_EnergyIsExactInItsOwnUnit) {
  for (const uint32_t cpu : {0U, 2U}) Package(cpu, 0xFFFFFFFF - 9);
  StartMeter();
  for (const uint32_t cpu : {0U, 2U}) Package(cpu, 6 + 16'384);
  After(5s);
  EXPECT_EQ(Uj(0), 2 * (1'000'000 + 977)) << "16 counts of 61.04 uJ and a joule";
  EXPECT_EQ(Uj(1), 2 * (250'000 + 244)) << "the same counts of 15.26 uJ";
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(MsrSourceTest, HighHalfOfTheRegister_IsIgnored) {
  StartMeter({"package"});
  machine_.Set(0, kPackageMsr, 0xDEADBEEF'00000000 + 101 * kCountsPerJoule);
  After(5s);
  EXPECT_EQ(Uj(0), 1'000'000);
}

TEST_F(MsrSourceTest, CounterReadsZeroLater_IsMissingAndCatchesUp) {
  StartMeter({"package"});
  machine_.Set(0, kPackageMsr, 0);
  After(5s);
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  machine_.Set(0, kPackageMsr, 103 * kCountsPerJoule);
  After(5s);
  EXPECT_EQ(Uj(0), 3'000'000);
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(MsrSourceTest, CpuGoesOffline_AnotherOfItsPackageIsRead) {
  StartMeter({"package"});
  machine_.Online("1-3");
  tree_.Remove("dev/cpu/0");
  Package(1, 104 * kCountsPerJoule);
  After(5s);  // its device is gone
  After(1s);
  EXPECT_EQ(Uj(0), 4'000'000);
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->deltas()[0].domains.known, 2u);
}

TEST_F(MsrSourceTest, SocketGoesOfflineAndReturns_TheOtherOneIsTheZone) {
  StartMeter({"package"});
  machine_.Online("0-1");
  for (const int cpu : {2, 3}) tree_.Remove("dev/cpu/" + std::to_string(cpu));
  for (const int cpu : {2, 3}) tree_.Remove("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology");
  Package(0, 101 * kCountsPerJoule);
  After(5s);
  Package(0, 102 * kCountsPerJoule);
  After(5s);
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_EQ(Uj(0), 1'000'000);
  EXPECT_EQ(meter_->deltas()[0].domains.read, 1u);
  machine_.Online("0-3");
  for (const uint32_t cpu : {2U, 3U}) machine_.Cpu(cpu, 1);
  for (const uint32_t cpu : {2U, 3U}) Package(cpu, 110 * kCountsPerJoule);
  Package(0, 103 * kCountsPerJoule);
  After(10s);
  EXPECT_EQ(Uj(0), 11'000'000) << "the socket continues from its last reading";
  EXPECT_EQ(meter_->deltas()[0].domains.read, 2u);
}

TEST_F(MsrSourceTest, OneSocketCannotBeRead_IsAMissingPartUntilItCan) {
  tree_.Remove("dev/cpu/2");
  StartMeter({"package"});
  Package(0, 101 * kCountsPerJoule);
  After(5s);
  EXPECT_EQ(Uj(0), 1'000'000);
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->deltas()[0].domains.known, 2u);
  Package(2, 200 * kCountsPerJoule);
  After(10s);  // found, and its baseline
  Package(0, 102 * kCountsPerJoule);
  Package(2, 202 * kCountsPerJoule);
  After(5s);
  EXPECT_EQ(Uj(0), 3'000'000);
  EXPECT_TRUE(meter_->deltas()[0].fresh);
}

}  // namespace
}  // namespace kepler::energy::rapl
