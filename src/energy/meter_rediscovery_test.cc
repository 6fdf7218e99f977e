// Domains that vanish and come back while a Meter runs.
#include <gtest/gtest.h>

#include "energy/meter_test_util.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;

class MeterRediscoveryTest : public MeterTest {};

TEST_F(MeterRediscoveryTest, DomainComesBack_GoesOnFromItsLastValue) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(1'000'000));
  Open().Sample();
  script_.values[1] = kGoneError;
  After(5s);
  script_.domains.pop_back();
  script_.values.pop_back();
  After(5s);  // looks again and does not find it
  EXPECT_EQ(script_.discoveries, 2);
  EXPECT_FALSE(meter_->deltas()[0].fresh) << "a part of the zone is missing";
  EXPECT_EQ(meter_->zones()[0].path, "aggregated-package") << "the series must not change its identity";
  script_.Add(Package(1), Uj(101'000'000));
  After(5s);
  EXPECT_EQ(script_.discoveries, 2) << "an absent domain is looked for every 10 s only";
}

TEST_F(MeterRediscoveryTest, DomainStaysAway_TheRestIsTheZone) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(0));
  Open().Sample();
  script_.values[1] = kGoneError;
  After(5s);
  script_.domains.pop_back();
  script_.values.pop_back();
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_FALSE(After(55s).fresh) << "a driver that is reloaded comes back";
  script_.values[0] = Uj(100'000'000);
  EXPECT_TRUE(After(5s).fresh);
}

TEST_F(MeterRediscoveryTest, AbsentDomainReturns_CountsWhatItMissed) {
  script_.Add(Package(0), Uj(0));
  script_.Add(Package(1), Uj(1'000'000));
  Open().Sample();
  script_.values[1] = kGoneError;
  After(5s);
  script_.domains.pop_back();
  script_.values.pop_back();
  After(5s);
  script_.Add(Package(1), Uj(101'000'000));
  EXPECT_EQ(After(10s).energy, Joules(100));
  EXPECT_EQ(meter_->health().resets, 0u);
}

TEST_F(MeterRediscoveryTest, DriverReloaded_CounterAtZeroIsAReset) {
  script_.Add(Package(), Uj(50'000'000'000));
  Open().Sample();
  script_.values[0] = kGoneError;
  After(5s);
  script_.values[0] = Uj(3'000'000);
  EXPECT_FALSE(After(5s).fresh);
  EXPECT_EQ(meter_->health().resets, 1u);
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
  EXPECT_FALSE(meter_->health().up);
  script_.discover_error.reset();
  script_.values[0] = Uj(9'000'000);
  EXPECT_EQ(After(5s).energy, Joules(9));
  EXPECT_TRUE(meter_->health().up);
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
  EXPECT_EQ(meter_->zones()[1], (Zone{"dram", "/s/dram"}));
  EXPECT_EQ(meter_->deltas()[0].energy, Joules(5));
}

}  // namespace
}  // namespace kepler::energy
