// Domains that vanish and come back while a Meter runs.
#include <gtest/gtest.h>

#include "energy/meter_test_util.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;

class MeterRediscoveryTest : public MeterTest {
 protected:
  void TwoSockets() {
    script_.Add(Package(0), Uj(0));
    script_.Add(Package(1), Uj(0));
    Open().Sample();
  }
  /// Its read fails once, then it is not listed any more.
  void LoseTheSecond() {
    script_.values[1] = kGoneError;
    After(5s);
    script_.domains.pop_back();
    script_.values.pop_back();
  }
};

TEST_F(MeterRediscoveryTest, DomainComesBack_GoesOnFromItsLastValue) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(1'000'000));
  Open().Sample();
  LoseTheSecond();
  After(5s);  // looks again and does not find it
  EXPECT_EQ(script_.discoveries, 2);
  EXPECT_FALSE(meter_->deltas()[0].fresh) << "a part of the zone is missing";
  EXPECT_EQ(meter_->zones()[0].path, "aggregated-package") << "the series must not change its identity";
  script_.Add(Package(1), Uj(101'000'000));
  After(5s);
  EXPECT_EQ(script_.discoveries, 2) << "an absent domain is looked for every 10 s only";
}

TEST_F(MeterRediscoveryTest, DomainStaysAway_ZoneHasNoWattsForAsLongAndEverySampleCounts) {
  TwoSockets();
  LoseTheSecond();
  for (int i = 1; i <= 100; ++i) {
    script_.values[0] = Uj(static_cast<uint64_t>(i) * 50'000'000);
    const ZoneDelta& zone = After(5s);
    EXPECT_FALSE(zone.fresh) << "watts of one socket, " << i * 5 << " s after the other one went";
    EXPECT_EQ(zone.power, Power());
    EXPECT_EQ(zone.energy, Joules(50)) << "what the other socket used counts all the same";
    EXPECT_EQ(zone.domains.known, 2u);
    EXPECT_EQ(zone.domains.read, 1u);
    EXPECT_EQ(meter_->status().failed_reads, static_cast<uint64_t>(1 + i));
  }
  EXPECT_TRUE(meter_->status().up);
}

TEST_F(MeterRediscoveryTest, DomainStaysAway_TheWarningComesAgainHourly) {
  TwoSockets();
  ::testing::internal::CaptureStdout();
  LoseTheSecond();
  for (int i = 0; i < 3 * 60 + 5; ++i) After(1min);
  const std::string log = ::testing::internal::GetCapturedStdout();
  int said = 0;
  for (size_t at = log.find("energy reading failed"); at != std::string::npos;
       at = log.find("energy reading failed", at + 1))
    ++said;
  EXPECT_EQ(said, 4) << log;
}

TEST_F(MeterRediscoveryTest, CpusOfTheAbsentDomainAreOffline_TheRestIsTheZone) {
  TwoSockets();
  script_.offline.insert(Package(1).key);
  LoseTheSecond();
  script_.values[0] = Uj(100'000'000);
  const ZoneDelta& zone = After(5s);
  EXPECT_TRUE(zone.fresh);
  EXPECT_DOUBLE_EQ(zone.power.watts(), 20.0);
  EXPECT_EQ(zone.domains.known, 2u);
  EXPECT_EQ(zone.domains.read, 1u);
  EXPECT_EQ(meter_->status().failed_reads, 0u) << "there is nothing to read";
}

TEST_F(MeterRediscoveryTest, OfflineSocketComesBack_WattsOfTheOtherOneAloneAreNotShown) {
  TwoSockets();
  script_.offline.insert(Package(1).key);
  LoseTheSecond();
  EXPECT_TRUE(After(10s).fresh);
  script_.offline.clear();
  script_.Add(Package(1), Uj(30'000'000));
  EXPECT_FALSE(After(1s).fresh) << "its CPUs run, and it is not found yet";
  EXPECT_EQ(After(1s).energy, Joules(30)) << "looked for at once";
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->deltas()[0].domains.read, 2u);
}

TEST_F(MeterRediscoveryTest, MirrorGoesAway_ItsZoneIsCompleteWithoutIt) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Withheld{.for_good = true});
  Open().Sample();
  EXPECT_EQ(meter_->deltas()[0].domains.known, 1u) << "a mirror is no domain of its own";
  LoseTheSecond();
  script_.values[0] = Uj(50'000'000);
  const ZoneDelta& zone = After(5s);
  EXPECT_TRUE(zone.fresh);
  EXPECT_EQ(zone.domains.known, 1u);
  EXPECT_EQ(meter_->status().failed_reads, 0u);
}

TEST_F(MeterRediscoveryTest, OnlyAMirrorIsLeft_TheZoneHasNoWatts) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Withheld{.for_good = true});
  Open().Sample();
  script_.values[0] = kIoError;
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->deltas()[0].domains.read, 0u);
}

TEST_F(MeterRediscoveryTest, AbsentDomainReturns_CountsWhatItMissed) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(1'000'000));
  Open().Sample();
  LoseTheSecond();
  After(5s);
  script_.Add(Package(1), Uj(101'000'000));
  EXPECT_EQ(After(10s).energy, Joules(100));
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(MeterRediscoveryTest, DriverReloaded_CounterAtZeroIsAReset) {
  script_.Add(Package(), Uj(50'000'000'000));
  Open().Sample();
  script_.values[0] = kGoneError;
  After(5s);
  script_.values[0] = Uj(3'000'000);
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->status().resets, 1u);
  script_.values[0] = Uj(4'000'000);
  EXPECT_EQ(After(5s).energy, Joules(1));
}

TEST_F(MeterRediscoveryTest, Fails_KeepsTheZonesAndSaysDown) {
  script_.Add(Package(), Uj(0));
  Open().Sample();
  script_.values[0] = kGoneError;
  script_.discover_error = Error{ErrorKind::kNotFound, "list powercap: No such file or directory"};
  After(5s);
  After(5s);
  After(5s);
  EXPECT_EQ(script_.discoveries, 3) << "once per sample at most";
  EXPECT_EQ(meter_->zones().size(), 1u);
  EXPECT_FALSE(meter_->status().up);
  script_.discover_error.reset();
  script_.values[0] = Uj(9'000'000);
  EXPECT_EQ(After(5s).energy, Joules(9));
  EXPECT_TRUE(meter_->status().up);
}

TEST_F(MeterRediscoveryTest, NewZoneAppears_IsFoundByItselfAndCountsFromThenOn) {
  script_.Add(Package(0), Uj(0));
  Open().Sample();
  script_.Add({"dram", "/s/dram", "dram@0", kRange, {}, {}}, Uj(7'000'000'000));
  After(10s);
  ASSERT_EQ(meter_->zones().size(), 2u);
  EXPECT_EQ(meter_->zones()[1], (status::Zone{"dram", "/s/dram", "scripted"}));
  EXPECT_EQ(meter_->deltas()[1].energy, Energy()) << "earlier energy is unattributed";
  script_.values[1] = Uj(7'010'000'000);
  After(5s);
  EXPECT_EQ(meter_->deltas()[1].energy, Joules(10));
  EXPECT_TRUE(meter_->deltas()[1].fresh);
}

TEST_F(MeterRediscoveryTest, SecondSocketAppears_WattsAreBackWithTheSecondReadingOfBoth) {
  script_.Add(Package(0), Uj(0));
  Open().Sample();
  script_.Add(Package(1), Uj(5'000'000));
  EXPECT_FALSE(After(10s).fresh);
  EXPECT_EQ(meter_->deltas()[0].domains.known, 2u);
  EXPECT_EQ(meter_->deltas()[0].domains.read, 2u);
  script_.values = {Uj(20'000'000), Uj(35'000'000)};
  EXPECT_EQ(After(5s).energy, Joules(20 + 30));
  EXPECT_DOUBLE_EQ(meter_->deltas()[0].power.watts(), 10.0);
}

TEST_F(MeterRediscoveryTest, NothingChanges_NothingIsSearchedForAgain) {
  script_.Add(Package(0), Uj(0));
  Open();
  for (int i = 0; i < 100; ++i) After(5s);
  EXPECT_EQ(script_.discoveries, 1);
}

TEST_F(MeterRediscoveryTest, ReadFailsButIsNotGone_NothingIsSearchedForAgain) {
  TwoSockets();
  script_.values[1] = kIoError;
  for (int i = 0; i < 5; ++i) After(1s);
  EXPECT_EQ(script_.discoveries, 1);
  EXPECT_EQ(meter_->status().failed_reads, 5u);
}

TEST_F(MeterRediscoveryTest, SomethingChanged_IsSearchedForTwice) {
  script_.Add(Package(0), Uj(0));
  Open();
  script_.Add(Package(1), Uj(0));
  After(10s);
  EXPECT_EQ(script_.discoveries, 2);
  After(10s);
  EXPECT_EQ(script_.discoveries, 3) << "a directory may come before what is in it";
  After(10s);
  EXPECT_EQ(script_.discoveries, 3);
}

TEST_F(MeterRediscoveryTest, NewZoneAppears_IsAppended) {
  script_.Add(Package(0), Uj(0));
  Open().Sample();
  script_.values[0] = kGoneError;
  After(5s);
  script_.domains.insert(script_.domains.begin(), Domain{"dram", "/s/dram", "dram@0", kRange, {}, {}});
  script_.values = {Uj(0), Uj(5'000'000)};
  After(5s);
  ASSERT_EQ(meter_->zones().size(), 2u);
  EXPECT_EQ(meter_->zones()[0].name, "package");
  EXPECT_EQ(meter_->zones()[1], (status::Zone{"dram", "/s/dram", "scripted"}));
  EXPECT_EQ(meter_->deltas()[0].energy, Joules(5));
}

}  // namespace
}  // namespace kepler::energy
