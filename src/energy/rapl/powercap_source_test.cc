#include "energy/rapl/powercap_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::rapl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PowercapSourceTest : public ::testing::Test {
 protected:
  void Zone(const std::string& entry, const std::string& name, const std::string& energy = "1000") {
    const std::string base = "class/powercap/" + entry + "/";
    tree_.Write(base + "name", name + "\n");
    tree_.Write(base + "max_energy_range_uj", "262143328850\n");
    tree_.Write(base + "energy_uj", energy + "\n");
  }
  void TwoSockets() {
    Zone("intel-rapl:0", "package-0");
    Zone("intel-rapl:0:0", "core");
    Zone("intel-rapl:0:1", "dram");
    Zone("intel-rapl:1", "psys");
    Zone("intel-rapl:2", "package-1");
    Zone("intel-rapl:2:0", "core");
    Zone("intel-rapl:2:1", "dram");
  }
  Result<std::vector<Domain>> Discover(const std::vector<std::string>& zones = {}) {
    source_ = std::make_unique<PowercapSource>(tree_.root(), zones, clock_);
    return source_->Discover();
  }
  static std::vector<std::string> Zones(const Result<std::vector<Domain>>& domains) {
    std::vector<std::string> names;
    if (domains)
      for (const Domain& domain : *domains) names.push_back(domain.zone);
    return names;
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::unique_ptr<PowercapSource> source_;
};

TEST_F(PowercapSourceTest, Discover_TwoSockets_DomainsCarryRangePathAndIdentity) {
  TwoSockets();
  const auto domains = Discover();
  EXPECT_THAT(Zones(domains), ElementsAre("package", "core", "dram", "psys", "package", "core", "dram"));
  const Domain& first = (*domains)[0];
  EXPECT_EQ(first.path, tree_.Path("class/powercap/intel-rapl:0"));
  EXPECT_EQ(first.key, "package@0");
  EXPECT_EQ(first.range, 262'143'328'850u);
  EXPECT_EQ(first.resolution.joules, 1e-6);
  EXPECT_THAT(first.note, IsEmpty());
}

TEST_F(PowercapSourceTest, Discover_FilterOfBaseNames_IgnoresCaseAndSpace) {
  TwoSockets();
  EXPECT_THAT(Zones(Discover({" Package ", "DRAM", ""})), ElementsAre("package", "dram", "package", "dram"));
}

TEST_F(PowercapSourceTest, Discover_FilterLeavesNothing_ErrorNamesTheZonesThatExist) {
  TwoSockets();
  const auto domains = Discover({"package-0", "gpu"});
  ASSERT_FALSE(domains);
  EXPECT_EQ(domains.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(domains.error().message, HasSubstr("core, dram, package, psys"));
}

TEST_F(PowercapSourceTest, Discover_EmptyPowercap_SaysWhatWouldHelp) {
  tree_.MakeDir("class/powercap/intel-rapl");
  const auto domains = Discover();
  ASSERT_FALSE(domains);
  EXPECT_THAT(domains.error().message, HasSubstr("intel_rapl_msr"));
}

TEST_F(PowercapSourceTest, Discover_NoNameCanBeRead_GivesThatErrorAndNamesNoModule) {
  tree_.MakeDir("class/powercap/intel-rapl:0/name");
  tree_.Write("class/powercap/intel-rapl:0/energy_uj", "1\n");
  const auto domains = Discover();
  ASSERT_FALSE(domains);
  EXPECT_EQ(domains.error().kind, ErrorKind::kIo);
  EXPECT_THAT(domains.error().message, HasSubstr("intel-rapl:0/name"));
}

TEST_F(PowercapSourceTest, Discover_ZoneWithoutAnyRange_IsNone) {
  TwoSockets();
  for (const char* core : {"intel-rapl:0:0", "intel-rapl:2:0"})
    tree_.Write(std::string("class/powercap/") + core + "/max_energy_range_uj", "0\n");
  EXPECT_THAT(Zones(Discover()), ElementsAre("package", "dram", "psys", "package", "dram"));
}

TEST_F(PowercapSourceTest, Discover_NoZoneHasARange_TheErrorSaysWhich) {
  Zone("intel-rapl:0", "package-0");
  tree_.Write("class/powercap/intel-rapl:0/max_energy_range_uj", "0\n");
  const auto domains = Discover();
  ASSERT_FALSE(domains);
  EXPECT_THAT(domains.error().message, HasSubstr("intel-rapl:0/max_energy_range_uj is 0"));
}

TEST_F(PowercapSourceTest, Discover_AmdCoreZone_IsOnlyUsedWhenNamed) {
  Zone("intel-rapl:0", "package-0");
  Zone("intel-rapl:0:0", "core");
  tree_.Write("devices/system/cpu/modalias", "cpu:type:x86,ven0002fam0019mod0011:feature:,0000\n");
  EXPECT_THAT(Zones(Discover()), ElementsAre("package"));
  const auto named = Discover({"core"});
  EXPECT_THAT(Zones(named), ElementsAre("core"));
  EXPECT_THAT((*named)[0].note, HasSubstr("a single core"));
  tree_.Write("devices/system/cpu/modalias", "cpu:type:x86,ven0000fam0006mod0055:feature:,0000\n");
  EXPECT_THAT(Zones(Discover()), ElementsAre("package", "core"));
}

TEST_F(PowercapSourceTest, Discover_AmdCoreZone_IsSaidOnceToBeLeftOut) {
  Zone("intel-rapl:0", "package-0");
  Zone("intel-rapl:0:0", "core");
  ::testing::internal::CaptureStdout();
  ASSERT_TRUE(Discover());
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), Not(HasSubstr("ignoring"))) << "Intel's is used";
  tree_.Write("devices/system/cpu/modalias", "cpu:type:x86,ven0009fam0018mod0000:feature:,0000\n");
  ::testing::internal::CaptureStdout();
  ASSERT_TRUE(Discover({"core"}));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), Not(HasSubstr("ignoring")));
  ::testing::internal::CaptureStdout();
  ASSERT_TRUE(Discover());
  ASSERT_TRUE(source_->Discover());
  const std::string log = ::testing::internal::GetCapturedStdout();
  const std::string said = "zone=core err=\"on AMD its counter covers a single core of the socket";
  const size_t at = log.find(said);
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.find(said, at + 1), std::string::npos) << "once";
  EXPECT_THAT(log, HasSubstr("rapl.zones"));
}

TEST_F(PowercapSourceTest, Read_Counters_AreWhatTheFilesSay) {
  Zone("intel-rapl:0", "package-0", "262143328850");
  Zone("intel-rapl:1", "package-1", "0");
  ASSERT_TRUE(Discover());
  std::vector<DomainReading> readings;
  source_->Read(readings);
  ASSERT_EQ(readings.size(), 2u);
  EXPECT_EQ(std::get<RawCounter>(readings[0].value).microjoules, 262'143'328'850u);
  EXPECT_EQ(std::get<RawCounter>(readings[1].value).microjoules, 0u);
}

}  // namespace
}  // namespace kepler::energy::rapl
