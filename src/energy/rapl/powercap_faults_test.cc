// The faults that a node's RAPL tree really shows, seen through the Meter.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "energy/rapl/metered_source_test_util.h"
#include "energy/rapl/powercap_source.h"
#include "testing/as_nobody.h"

namespace kepler::energy::rapl {
namespace {

using namespace std::chrono_literals;
using testing::AsNobody;
using ::testing::HasSubstr;

class PowercapFaultsTest : public MeteredSourceTest {
 protected:
  void SetUp() override {
    Zone("intel-rapl:0", "package-0");
    Zone("intel-rapl:0:0", "dram");
    Restart();
  }
  void Restart() { Start(std::make_unique<PowercapSource>(tree_.root(), std::vector<std::string>{}, clock_)); }
  static std::string Base(const std::string& entry) { return "class/powercap/" + entry + "/"; }
  void Zone(const std::string& entry, const std::string& name) {
    tree_.Write(Base(entry) + "name", name + "\n");
    tree_.Write(Base(entry) + "max_energy_range_uj", "262143328850\n");
    Count(entry, 1'000'000);
  }
  void Count(const std::string& entry, uint64_t value) {
    tree_.Write(Base(entry) + "energy_uj", std::to_string(value) + "\n");
  }
};

TEST_F(PowercapFaultsTest, CounterWraps_EnergyIsExact) {
  Count("intel-rapl:0", 262'143'328'000);
  After(1h);
  Count("intel-rapl:0", 4'919'970);
  After(5s);
  EXPECT_EQ(Uj(0), 262'143'328'850 - 262'143'328'000 + 4'919'970 + 1);
}

TEST_F(PowercapFaultsTest, PowerLimitsAreRaisedLater_TheReadingsOfThePackageAndItsPartsAreBelieved) {
  tree_.Write(Base("intel-rapl:0") + "constraint_0_power_limit_uw", "15000000\n");
  tree_.Write(Base("intel-rapl:0") + "constraint_1_power_limit_uw", "20000000\n");
  Restart();
  tree_.Write(Base("intel-rapl:0") + "constraint_1_power_limit_uw", "64000000\n");
  Count("intel-rapl:0", 241'000'000);
  Count("intel-rapl:0:0", 241'000'000);
  After(4s);
  EXPECT_EQ(Uj(0), 240'000'000);
  EXPECT_EQ(Uj(1), 240'000'000);
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
}

TEST_F(PowercapFaultsTest, CounterIsADirectory_CostsOnlyItsZone) {
  tree_.Remove(Base("intel-rapl:0:0") + "energy_uj");
  tree_.MakeDir(Base("intel-rapl:0:0") + "energy_uj");
  Count("intel-rapl:0", 11'000'000);
  After(5s);
  EXPECT_EQ(Uj(0), 10'000'000);
  EXPECT_FALSE(meter_->deltas()[1].fresh);
  EXPECT_EQ(meter_->status().failed_reads, 1u);
  EXPECT_TRUE(meter_->status().up);
}

TEST_F(PowercapFaultsTest, CounterSaysTryAgain_IsAnErrorOfThatReadingAndCaughtUpLater) {
  const std::string path = tree_.Path(Base("intel-rapl:0") + "energy_uj");
  tree_.Remove(Base("intel-rapl:0") + "energy_uj");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const UniqueFd writer(::open(path.c_str(), O_RDWR | O_CLOEXEC));  // with a writer and no data: EAGAIN
  ASSERT_TRUE(writer.valid());
  After(5s);
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  EXPECT_TRUE(meter_->deltas()[1].fresh);
  tree_.Remove(Base("intel-rapl:0") + "energy_uj");
  Count("intel-rapl:0", 101'000'000);
  After(5s);
  EXPECT_EQ(Uj(0), 100'000'000);
  EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 10.0);
}

TEST_F(PowercapFaultsTest, TwinsWithoutARange_TheOneThatIsMendedIsUsed) {
  for (const char* mended : {"intel-rapl:1", "intel-rapl-mmio:1"}) {
    Zone("intel-rapl:0", "package-0");
    for (const char* entry : {"intel-rapl:1", "intel-rapl-mmio:1"}) {
      Zone(entry, "package-1");
      tree_.Write(Base(entry) + "max_energy_range_uj", "0\n");
    }
    Restart();
    Zone(mended, "package-1");
    After(10s);  // found, and its baseline
    for (const char* entry : {"intel-rapl:0", mended}) Count(entry, 11'000'000);
    After(5s);
    EXPECT_EQ(meter_->deltas()[0].domains.read, 2u) << mended;
    EXPECT_EQ(Uj(0), 20'000'000) << mended;
  }
}

TEST_F(PowercapFaultsTest, SocketWithoutARange_TheOtherIsNeverShownAsAll) {
  const auto count = [this](uint64_t value) {
    for (const char* entry : {"intel-rapl:0", "intel-rapl:1"}) Count(entry, value);
  };
  for (const char* range : {"", "0\n", "x\n"}) {
    Zone("intel-rapl:0", "package-0");
    Zone("intel-rapl:1", "package-1");
    const std::string file = Base("intel-rapl:1") + "max_energy_range_uj";
    tree_.Write(file, range);
    if (*range == '\0') tree_.Remove(file);
    Restart();
    count(11'000'000);
    After(5s);
    EXPECT_EQ(Uj(0), 10'000'000);
    EXPECT_FALSE(meter_->deltas()[0].fresh);
    EXPECT_EQ(meter_->deltas()[0].domains.known, 2u);
    EXPECT_EQ(meter_->deltas()[0].domains.read, 1u);
    EXPECT_EQ(meter_->status().failed_reads, 2u);
    EXPECT_EQ(meter_->zones()[0].path, "aggregated-package");
    tree_.Write(file, "262143328850\n");
    After(1s);
    EXPECT_EQ(meter_->deltas()[0].domains.read, 1u) << "checked every ten seconds";
    After(9s);  // found, and its baseline
    count(41'000'000);
    After(5s);
    EXPECT_EQ(Uj(0), 60'000'000);
    EXPECT_TRUE(meter_->deltas()[0].fresh);
    EXPECT_EQ(meter_->deltas()[0].domains.read, 2u);
  }
}

TEST_F(PowercapFaultsTest, DriverUnloadedAndLoaded_GoesOnAndKeepsTheZones) {
  tree_.Remove("class/powercap");
  After(5s);
  After(5s);
  EXPECT_FALSE(meter_->status().up);
  EXPECT_EQ(meter_->zones().size(), 2u);
  Zone("intel-rapl:0", "package-0");
  Zone("intel-rapl:0:0", "dram");
  Count("intel-rapl:0", 51'000'000);
  After(5s);
  EXPECT_TRUE(meter_->status().up);
  EXPECT_EQ(Uj(0), 50'000'000);
}

TEST_F(PowercapFaultsTest, OneZoneDisappears_TheOtherGoesOnAndItsPathsStay) {
  const auto before = std::vector<status::Zone>(meter_->zones().begin(), meter_->zones().end());
  tree_.Remove("class/powercap/intel-rapl:0:0");
  for (int i = 1; i <= 4; ++i) {
    Count("intel-rapl:0", 1'000'000 + static_cast<uint64_t>(i) * 5'000'000);
    After(5s);
    EXPECT_EQ(Uj(0), 5'000'000);
    EXPECT_FALSE(meter_->deltas()[1].fresh);
  }
  EXPECT_TRUE(std::ranges::equal(before, meter_->zones()));
  EXPECT_TRUE(meter_->status().up);
}

TEST_F(PowercapFaultsTest, SocketGoesOffline_TheOtherOneIsTheZone) {
  for (const int cpu : {0, 1})
    tree_.Write("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id",
                std::to_string(cpu) + "\n");
  tree_.Write("devices/system/cpu/online", "0-1\n");
  Zone("intel-rapl:1", "package-1");
  Zone("intel-rapl:1:0", "dram");
  Restart();
  tree_.Remove("class/powercap/intel-rapl:1");
  tree_.Remove("class/powercap/intel-rapl:1:0");
  After(5s);
  for (const size_t zone : {0u, 1u}) EXPECT_FALSE(meter_->deltas()[zone].fresh) << "its CPUs run";
  EXPECT_EQ(meter_->status().failed_reads, 2u);
  tree_.Remove("devices/system/cpu/cpu1/topology");
  tree_.Write("devices/system/cpu/online", "0\n");
  After(5s);
  for (const size_t zone : {0u, 1u}) {
    EXPECT_TRUE(meter_->deltas()[zone].fresh);
    EXPECT_EQ(meter_->deltas()[zone].domains.known, 2u);
    EXPECT_EQ(meter_->deltas()[zone].domains.read, 1u);
  }
  EXPECT_EQ(meter_->status().failed_reads, 2u);
}

TEST_F(PowercapFaultsTest, ZoneWithoutASocketNumber_IsNeverTakenForOffline) {
  Zone("intel-rapl:1", "psys");
  tree_.Write("devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  tree_.Write("devices/system/cpu/online", "0\n");
  Restart();
  tree_.Write("devices/system/cpu/online", "\n");
  tree_.Remove("class/powercap/intel-rapl:1");
  After(5s);
  EXPECT_FALSE(meter_->deltas()[2].fresh);
}

TEST_F(PowercapFaultsTest, DirectoryBeforeItsContents_IsFoundOnceItIsComplete) {
  tree_.MakeDir("class/powercap/intel-rapl:0:1");
  After(10s);
  EXPECT_EQ(meter_->zones().size(), 2u);
  Zone("intel-rapl:0:1", "core");
  After(10s);
  ASSERT_EQ(meter_->zones().size(), 3u);
  Count("intel-rapl:0:1", 3'000'000);
  After(5s);
  EXPECT_EQ(Uj(2), 2'000'000);
}

TEST_F(PowercapFaultsTest, PreferredDriverIsLoadedLater_TheDomainGoesOn) {
  tree_.Remove("class/powercap");
  Zone("intel-rapl-mmio:0", "package-0");
  Restart();
  Zone("intel-rapl:0", "package-0");  // the same counter
  for (const char* entry : {"intel-rapl-mmio:0", "intel-rapl:0"}) Count(entry, 51'000'000);
  After(10s);
  EXPECT_EQ(Uj(0), 50'000'000);
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->deltas()[0].domains.known, 1u);
}

TEST_F(PowercapFaultsTest, EmptyCounterFile_IsRejectedNotReadAsZero) {
  tree_.Write(Base("intel-rapl:0") + "energy_uj", "");
  After(5s);
  EXPECT_FALSE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->status().resets, 0u);
  Count("intel-rapl:0", 2'000'000);
  After(5s);
  EXPECT_EQ(Uj(0), 1'000'000);
}

TEST_F(PowercapFaultsTest, CounterFrozen_IsReadAndDoesNotMove) {
  for (int i = 0; i < 3; ++i) After(5s);
  EXPECT_TRUE(meter_->status().up);
  EXPECT_FALSE(meter_->has_moved());
}

TEST_F(PowercapFaultsTest, CounterOnlyForRoot_DiscoverSaysWhichCapabilityHelps) {
  tree_.Chmod("", 0755);
  for (const char* entry : {"intel-rapl:0", "intel-rapl:0:0"}) tree_.Chmod(Base(entry) + "energy_uj", 0);
  const std::string answer = AsNobody([&] {
    PowercapSource source(tree_.root(), {}, clock_);
    const auto domains = source.Discover();
    if (domains) return std::string("no error");
    return (domains.error().kind == ErrorKind::kPermission ? "no permission: " : "another kind: ") +
           domains.error().message;
  });
  EXPECT_THAT(answer, HasSubstr("no permission: "));
  EXPECT_THAT(answer, HasSubstr("CAP_DAC_READ_SEARCH"));
  EXPECT_THAT(answer, HasSubstr("energy_uj"));
}

TEST_F(PowercapFaultsTest, OneCounterOnlyForRoot_TheOthersAreUsed) {
  tree_.Chmod("", 0755);
  tree_.Chmod(Base("intel-rapl:0") + "energy_uj", 0);
  const std::string answer = AsNobody([&] {
    Meter meter(std::make_unique<PowercapSource>(tree_.root(), std::vector<std::string>{}, clock_), clock_);
    const Status status = meter.Open();
    return status ? std::string("opened") : status.error().message;
  });
  EXPECT_EQ(answer.substr(answer.size() - 6), "opened") << answer;
}

}  // namespace
}  // namespace kepler::energy::rapl
