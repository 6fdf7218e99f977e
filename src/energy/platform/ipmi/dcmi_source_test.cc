#include "energy/platform/ipmi/dcmi_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "energy/platform/ipmi/simulated_bmc.h"
#include "energy/polled_source.h"

namespace kepler::energy::platform::ipmi {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class DcmiSourceTest : public ::testing::Test {
 protected:
  std::unique_ptr<DcmiSource> MakeSource() {
    return std::make_unique<DcmiSource>("/dev/ipmi0", bmc_.opener(), testing::Lend(clock_));
  }
  Answer Value(DcmiSource& source, size_t index = 0) {
    source.Read(readings_);
    return readings_.at(index).value;
  }
  /// Not a number if there is no power.
  double Watts(DcmiSource& source, size_t index = 0) {
    const Answer value = Value(source, index);
    const auto* power = std::get_if<Power>(&value);
    return power == nullptr ? std::numeric_limits<double>::quiet_NaN() : power->watts();
  }
  static Error ErrorOf(const Answer& answer) {
    const Error* error = std::get_if<Error>(&answer);
    return error == nullptr ? Error{ErrorKind::kInvalid, "no error"} : *error;
  }

  testing::FakeClock clock_;
  SimulatedBmc bmc_{clock_};
  std::unique_ptr<DcmiSource> source_ = MakeSource();
  std::vector<DomainReading> readings_;
};

TEST_F(DcmiSourceTest, Discover_Dcmi_IsOneSensorOfTheWholeMachine) {
  bmc_.dcmi_watts = 217;
  bmc_.Add("System Power", 0x51, 54);
  const auto domains = source_->Discover();
  ASSERT_TRUE(domains) << domains.error().message;
  ASSERT_EQ(domains->size(), 1u);
  EXPECT_EQ((*domains)[0].path, "/dev/ipmi0");
  const auto& sensor = (*domains)[0].sensor;
  ASSERT_TRUE(sensor);
  EXPECT_EQ(sensor->bmc_id, "ipmi0");
  EXPECT_EQ(sensor->source_type, "dcmi");
  EXPECT_TRUE(sensor->whole);
  EXPECT_EQ((*domains)[0].resolution.watts, 1);
  EXPECT_EQ(Watts(*source_), 217);
}

TEST_F(DcmiSourceTest, Discover_NoDcmi_UsesTheSensors) {
  bmc_.Add("PSU1 Power", 0x50, 30);
  bmc_.Add("System Power", 0x51, 54);
  const auto domains = source_->Discover();
  ASSERT_TRUE(domains) << domains.error().message;
  ASSERT_EQ(domains->size(), 2u);
  EXPECT_EQ((*domains)[0].zone, "PSU1 Power");
  EXPECT_FALSE((*domains)[0].sensor->whole);
  EXPECT_EQ((*domains)[1].sensor->source_type, "sdr");
  EXPECT_EQ((*domains)[1].sensor->source_name, "System Power");
  EXPECT_EQ((*domains)[1].sensor->source_id, "sensor/0.0x51");
  EXPECT_TRUE((*domains)[1].sensor->whole);
  EXPECT_EQ((*domains)[1].resolution.watts, 4);
  EXPECT_EQ(Watts(*source_, 0), 120);
  EXPECT_EQ(Watts(*source_, 1), 216);
}

TEST_F(DcmiSourceTest, Discover_SensorsOfOneName_HaveZonesOfTheirOwn) {
  bmc_.Add("PSU Power", 0x50, 30);
  bmc_.Add("PSU Power", 0x51, 30);
  const auto domains = source_->Discover();
  ASSERT_TRUE(domains && domains->size() == 2);
  EXPECT_NE((*domains)[0].zone, (*domains)[1].zone);
  EXPECT_THAT((*domains)[0].note, HasSubstr("no sensor of the BMC measures the whole machine"));
}

TEST_F(DcmiSourceTest, Discover_NeitherDcmiNorSensors_NamesBoth) {
  const auto domains = source_->Discover();
  ASSERT_FALSE(domains);
  EXPECT_EQ(domains.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(domains.error().message, HasSubstr("/dev/ipmi0: get DCMI power reading: completion code 0xc1"));
  EXPECT_THAT(domains.error().message, HasSubstr("sensor record"));
}

TEST_F(DcmiSourceTest, Discover_BmcStarts_DoesNotFallBackOnTheSensors) {
  bmc_.Add("System Power", 0x51, 54);
  bmc_.code = 0xD2;
  const auto domains = source_->Discover();
  ASSERT_FALSE(domains);
  EXPECT_EQ(domains.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(bmc_.requests, 1);
  bmc_.code = 0;
  bmc_.dcmi_watts = 217;
  ASSERT_TRUE(source_->Discover());
  EXPECT_EQ(Watts(*source_), 217);
}

TEST_F(DcmiSourceTest, Discover_NotActive_IsUnavailableWithTheRemedy) {
  bmc_.dcmi_watts = 0;
  bmc_.dcmi_is_active = false;
  const auto domains = source_->Discover();
  ASSERT_FALSE(domains);
  EXPECT_EQ(domains.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(domains.error().message, HasSubstr("enable power monitoring"));
}

TEST_F(DcmiSourceTest, Discover_DcmiMissingLater_StaysWithDcmi) {
  bmc_.dcmi_watts = 217;
  bmc_.Add("System Power", 0x51, 54);
  ASSERT_TRUE(source_->Discover());
  bmc_.dcmi_watts.reset();
  EXPECT_FALSE(source_->Discover());
  EXPECT_THAT(ErrorOf(Value(*source_)).message, HasSubstr("0xc1"));
}

TEST_F(DcmiSourceTest, Read_BmcReset_CostsThatPollOnly) {
  bmc_.dcmi_watts = 217;
  ASSERT_TRUE(source_->Discover());
  bmc_.code = 0xD2;
  const Error error = ErrorOf(Value(*source_));
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("0xd2: the BMC is starting"));
  bmc_.code = 0;
  EXPECT_EQ(Watts(*source_), 217);
}

TEST_F(DcmiSourceTest, DiscoverAndRead_LeaveTheDeviceClosed) {
  bmc_.dcmi_watts = 217;
  ASSERT_TRUE(source_->Discover());
  EXPECT_EQ(bmc_.open_descriptors, 0);
  EXPECT_EQ(Watts(*source_), 217);
  EXPECT_EQ(bmc_.opens, 2);
  EXPECT_EQ(bmc_.open_descriptors, 0);
}

/// As when the agent stops while a BMC hangs.
TEST_F(DcmiSourceTest, Interrupt_HungBmc_EndsTheWaitAndSendsNothingMore) {
  bmc_.dcmi_watts = 217;
  ASSERT_TRUE(source_->Discover());
  bmc_.is_silent = true;
  bmc_.on_wait = [this] { source_->Interrupt(); };
  const BootTime begin = clock_.Now();
  std::vector<DomainReading> readings;
  source_->Read(readings);
  ASSERT_EQ(readings.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<Error>(readings[0].value));
  EXPECT_THAT(std::get<Error>(readings[0].value).message, HasSubstr("the agent stops"));
  EXPECT_LE(clock_.Now() - begin, BmcLink::kSlice);
  const int requests = bmc_.requests;
  EXPECT_FALSE(source_->Discover());
  EXPECT_EQ(bmc_.requests, requests);
}

TEST_F(DcmiSourceTest, Read_DeviceGone_IsNotFoundUntilItReturns) {
  bmc_.dcmi_watts = 217;
  ASSERT_TRUE(source_->Discover());
  bmc_.Remove();
  bmc_.open_error = Error{ErrorKind::kNotFound, "open /dev/ipmi0: No such file or directory"};
  EXPECT_EQ(ErrorOf(Value(*source_)).kind, ErrorKind::kNotFound);
  bmc_.open_error.reset();
  EXPECT_EQ(Watts(*source_), 217);
}

TEST_F(DcmiSourceTest, Read_ImplausibleValues_AreRefused) {
  bmc_.dcmi_watts = 217;
  ASSERT_TRUE(source_->Discover());
  for (const uint16_t watts : std::vector<uint16_t>{0, 0xFFFF}) {
    bmc_.dcmi_watts = watts;
    EXPECT_THAT(ErrorOf(Value(*source_)).message, HasSubstr("not a measurement"));
  }
}

TEST_F(DcmiSourceTest, Read_ImplausibleSensor_FailsOnlyItsDomain) {
  bmc_.Add("System Power", 0x51, 0);
  bmc_.Add("PSU1 Power", 0x52, 0);
  bmc_.Add("PSU2 Power", 0x53, 0xFF);
  bmc_.records[3][20] = 0x80;  // two's complement: -1
  bmc_.Add("PSU3 Power", 0x54, 10);
  bmc_.sensors[0x54].state = 0xE0;
  ASSERT_TRUE(source_->Discover());
  EXPECT_THAT(ErrorOf(Value(*source_, 0)).message, HasSubstr("/dev/ipmi0: read sensor System Power: it reports 0 W"));
  EXPECT_EQ(Watts(*source_, 1), 0) << "a part may use nothing";
  EXPECT_THAT(ErrorOf(Value(*source_, 2)).message, HasSubstr("-4 W"));
  EXPECT_EQ(ErrorOf(Value(*source_, 3)).kind, ErrorKind::kUnavailable);
}

TEST_F(DcmiSourceTest, Polled_BmcResetAndReload_RecoverAndIntegrate) {
  bmc_.dcmi_watts = 200;
  PolledSource polled(MakeSource(), 10s, testing::Lend(clock_));
  polled.Poll();
  ASSERT_TRUE(polled.Discover());
  clock_.Advance(10s);
  polled.Poll();
  bmc_.code = 0xD2;
  clock_.Advance(10s);
  polled.Poll();
  polled.Read(readings_);
  EXPECT_EQ(ErrorOf(readings_.at(0).value).kind, ErrorKind::kUnavailable);
  bmc_.code = 0;
  bmc_.Remove();
  clock_.Advance(20s);
  polled.Poll();
  polled.Read(readings_);
  const auto* counter = std::get_if<RawCounter>(&readings_.at(0).value);
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(counter->microjoules, 8'000'000'000u) << "40 s at 200 W, the gap included";
  EXPECT_EQ(readings_.at(0).power, Power::Watts(200));
}

}  // namespace
}  // namespace kepler::energy::platform::ipmi
