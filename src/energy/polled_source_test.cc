#include "energy/polled_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include "base/thread.h"
#include "energy/meter.h"
#include "energy/scripted_source.h"
#include "testing/fake_clock.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A power supply that is read every 15 s, sampled every 5.
class PolledSourceTest : public ::testing::Test {
 protected:
  PolledSourceTest() {
    script_.domain = status::Domain::kPlatform;
    script_.Add({"platform", "psu", "psu", {}, {}, {}}, Power::Watts(100));
    auto source =
        std::make_unique<PolledSource>(std::make_unique<ScriptedSource>(script_, clock_), 15s, testing::Lend(clock_));
    source_ = source.get();
    meter_ = std::make_unique<Meter>(std::move(source), clock_);
  }
  const ZoneDelta& Sample() {
    clock_.Advance(5s);
    meter_->Sample();
    return meter_->deltas()[0];
  }
  void OpenAndBegin() {
    source_->Poll();
    ASSERT_TRUE(meter_->Open());
    meter_->Sample();
  }

  testing::FakeClock clock_;
  Script script_;
  PolledSource* source_;
  std::unique_ptr<Meter> meter_;
};

TEST_F(PolledSourceTest, HasNotAnswered_CannotBeOpenedYet) {
  const Status opened = meter_->Open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("it has not answered yet"));
  source_->Poll();
  EXPECT_TRUE(meter_->Open());
}

/// The supply has a counter of 1 Wh in addition.
TEST_F(PolledSourceTest, LongGap_EnergyComesFromTheSensorsOwnCounter) {
  constexpr int64_t kWattHour = 3'600'000'000;
  Energy truth = Energy::Joules(1'000'000);
  const auto pass = [&](Nanoseconds time) {
    clock_.Advance(time);
    truth += Energy::Joules(100 * std::chrono::duration_cast<std::chrono::seconds>(time).count());
    script_.counter = Energy::Microjoules(truth.microjoules() / kWattHour * kWattHour);
    source_->Poll();
    meter_->Sample();
  };
  script_.counter = Energy::Joules(997'200);
  OpenAndBegin();
  Energy total;
  const auto count = [&](Nanoseconds time) {
    pass(time);
    total += meter_->deltas()[0].energy;
  };
  for (int i = 0; i < 40; ++i) count(15s);
  count(20min);
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_NEAR(total.ToJoules(), 100 * (600 + 1200), 3'600);
  EXPECT_EQ(meter_->status().resets, 0U);
  EXPECT_EQ(meter_->status().bridged_gaps, 1U);
  ASSERT_TRUE(meter_->deltas()[0].check);
  EXPECT_LE(std::abs(meter_->deltas()[0].check->difference.ToJoules()), 3'600);
  script_.counter.reset();
  Sample();
  source_->Poll();
  Sample();
  EXPECT_FALSE(meter_->deltas()[0].check) << "the counter is gone";
  count(20min);
  EXPECT_EQ(meter_->status().resets, 1U) << "the step covers more than the gap, so it is not used";
}

TEST_F(PolledSourceTest, LongGapAfterTheFirstReading_IsAReset) {
  OpenAndBegin();
  clock_.Advance(6min);
  source_->Poll();
  EXPECT_FALSE(Sample().fresh) << "0 J in six minutes are not what the machine used";
  EXPECT_EQ(meter_->status().resets, 1U);
  source_->Poll();
  EXPECT_EQ(Sample().energy, Energy::Joules(5 * 100));
  EXPECT_EQ(meter_->status().resets, 1U);
}

TEST_F(PolledSourceTest, LongGapAndManyPollsSince_IsAReset) {
  const auto poll_for = [&](Nanoseconds time) {
    for (const BootTime end = clock_.Now() + time; clock_.Now() < end;) {
      clock_.Advance(15s);
      source_->Poll();
    }
  };
  OpenAndBegin();
  poll_for(1min);
  Sample();
  clock_.Advance(6min);
  source_->Poll();
  poll_for(3min);
  EXPECT_FALSE(Sample().fresh);
  EXPECT_EQ(meter_->status().resets, 1U);
}

TEST_F(PolledSourceTest, ReturnsAfterItWasNotListed_IsAReset) {
  OpenAndBegin();
  const Domain sensor = script_.domains[0];
  script_.domains.clear();
  script_.values.clear();
  for (int i = 0; i < 2; ++i) source_->Poll();
  script_.Add(sensor, Power::Watts(100));
  for (int i = 0; i < 2; ++i) {
    clock_.Advance(15s);
    source_->Poll();
  }
  Sample();
  EXPECT_EQ(meter_->status().resets, 1U) << "another sensor may have measured the machine meanwhile";
}

TEST_F(PolledSourceTest, NothingNew_WattsStayAndNothingIsCountedTwice) {
  OpenAndBegin();
  Energy total;
  int unchanged = 0;
  for (int i = 1; i <= 30; ++i) {
    if (i % 3 == 0) {
      clock_.Advance(5s);
      source_->Poll();
      meter_->Sample();
    } else {
      Sample();
    }
    const ZoneDelta& delta = meter_->deltas()[0];
    total += delta.energy;
    unchanged += delta.unchanged ? 1 : 0;
    if (i < 3) continue;  // two readings make an amount
    EXPECT_TRUE(delta.fresh) << i;
    EXPECT_DOUBLE_EQ(delta.power.watts(), 100) << "never a false 0 W, at " << i;
    EXPECT_EQ(delta.unchanged, i % 3 != 0) << i;
    EXPECT_TRUE(meter_->status().up);
  }
  EXPECT_EQ(total, Energy::Joules(150 * 100));
  EXPECT_EQ(unchanged, 18);
}

TEST_F(PolledSourceTest, LastSuccess_IsThatOfTheReading) {
  OpenAndBegin();
  const WallTime at = clock_.Wall();
  Sample();
  Sample();
  EXPECT_EQ(meter_->status().last_success, at);
}

TEST_F(PolledSourceTest, SaysNothingForLong_HasFailed) {
  OpenAndBegin();
  source_->Poll();
  for (int i = 0; i < 9; ++i) EXPECT_EQ((Sample(), meter_->status().failed_reads), 0u) << i;
  EXPECT_FALSE(Sample().fresh);
  EXPECT_EQ(meter_->status().failed_reads, 1u);
  EXPECT_FALSE(meter_->status().up);
  source_->Poll();
  EXPECT_EQ(Sample().energy, Energy::Joules(50 * 100)) << "caught up";
}

TEST_F(PolledSourceTest, Fails_IsReadHalfAsOften) {
  script_.discover_error = Error{ErrorKind::kIo, "no route to the BMC"};
  for (const auto wait : {30s, 30s, 30s}) EXPECT_EQ(source_->Poll(), wait);
  const Status opened = meter_->Open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("no route to the BMC"));
  script_.discover_error.reset();
  EXPECT_EQ(source_->Poll(), 15s);
  EXPECT_TRUE(meter_->Open());
}

TEST_F(PolledSourceTest, ReadingFails_TheNextPollSearchesForItsDomainsAnew) {
  OpenAndBegin();
  script_.values[0] = Error{ErrorKind::kIo, "500"};
  EXPECT_EQ(source_->Poll(), 30s);
  EXPECT_FALSE(Sample().fresh);
  const int before = script_.discoveries;
  script_.values[0] = Power::Watts(100);
  EXPECT_EQ(source_->Poll(), 15s);
  EXPECT_EQ(script_.discoveries, before + 1);
}

TEST_F(PolledSourceTest, DomainAppears_IsFoundByTheThreadFirst) {
  OpenAndBegin();
  script_.Add({"fans", "fans", "fans", {}, {}, {}}, Power::Watts(10));
  source_->Poll();  // sees that there is another one
  source_->Poll();
  Sample();
  EXPECT_TRUE(meter_->status().up);
  Sample();
  Sample();
  EXPECT_EQ(meter_->status().failed_reads, 0u);
  ASSERT_EQ(meter_->zones().size(), 2u);
  EXPECT_EQ(meter_->zones()[1].name, "fans");
}

TEST_F(PolledSourceTest, OneOfTwoIsGone_IsSearchedForInEachTurn) {
  script_.Add({"fans", "fans", "fans", {}, {}, {}}, Power::Watts(10));
  OpenAndBegin();
  script_.values[1] = Error{ErrorKind::kGone, "it was pulled"};
  source_->Poll();
  const int before = script_.discoveries;
  source_->Poll();
  EXPECT_EQ(script_.discoveries, before + 1);
  script_.values[1] = Power::Watts(10);
  source_->Poll();
  Sample();
  EXPECT_EQ(meter_->status().failed_reads, 0u);
}

TEST_F(PolledSourceTest, OneOfTwoIsNoLongerListed_IsSearchedForEveryFiveMinutes) {
  script_.Add({"fans", "fans", "fans", {}, {}, {}}, Power::Watts(10));
  OpenAndBegin();
  script_.domains.pop_back();
  script_.values.pop_back();
  source_->Poll();
  const int before = script_.discoveries;
  for (int i = 0; i < 60; ++i) {
    clock_.Advance(15s);
    Sample();
    source_->Poll();
  }
  EXPECT_GE(script_.discoveries - before, 3);
  EXPECT_LE(script_.discoveries - before, 4);
}

TEST_F(PolledSourceTest, LimitThatIsRaisedLater_LetsTheReadingsPass) {
  script_.domains[0].max_power = Power::Watts(100);
  script_.max = {Power::Watts(100)};
  OpenAndBegin();
  source_->Poll();
  script_.max = {Power::Watts(450)};
  script_.values[0] = Power::Watts(400);
  for (int i = 0; i < 3; ++i) {
    source_->Poll();
    Sample();
  }
  EXPECT_EQ(meter_->status().rejected_readings, 0u);
  EXPECT_EQ(meter_->deltas()[0].power.watts(), 400);
}

TEST_F(PolledSourceTest, DomainThatIsSwitchedOff_IsNotMissed) {
  script_.Add({"fans", "fans", "fans", {}, {}, {}}, Power::Watts(10));
  OpenAndBegin();
  script_.values[1] = Error{ErrorKind::kIo, "off"};
  script_.offline.insert("fans");
  source_->Poll();
  Sample();
  EXPECT_EQ(meter_->status().failed_reads, 0u);
}

/// A client library that throws.
class ThrowingSource final : public EnergySource {
 public:
  [[nodiscard]] std::string_view Name() const override { return "throwing"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  [[nodiscard]] Result<std::vector<Domain>> Discover() override { throw std::runtime_error("no such host"); }
  void Read(std::vector<DomainReading>& /*out*/) override {}
};

TEST(PolledSource, LibraryThrows_IsAnError) {
  const testing::FakeClock clock;
  PolledSource source(std::make_unique<ThrowingSource>(), 15s, testing::Lend(clock));
  EXPECT_EQ(source.Poll(), 30s);
  const auto found = source.Discover();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("no such host"));
}

/// A BMC that blocks every reader until the test releases it.
class HangingSource final : public EnergySource {
 public:
  struct Gate {
    std::latch entered{1};
    std::promise<void> open;
    std::shared_future<void> opened{open.get_future()};
  };
  explicit HangingSource(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  [[nodiscard]] std::string_view Name() const override { return "hanging"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  [[nodiscard]] Result<std::vector<Domain>> Discover() override {
    gate_->entered.count_down();
    gate_->opened.wait();
    return Fail(ErrorKind::kIo, "too late");
  }
  void Read(std::vector<DomainReading>& /*out*/) override {}

 private:
  std::shared_ptr<Gate> gate_;
};

TEST(PolledSourceThread, Hangs_NobodyWaitsForItNorForItsEnd) {
  const auto gate = std::make_shared<HangingSource::Gate>();
  {
    PolledSource source(std::make_unique<HangingSource>(gate), 1ms, std::make_shared<SystemClock>());
    ASSERT_TRUE(source.Start());
    gate->entered.wait();
    EXPECT_FALSE(source.Discover());
    std::vector<DomainReading> readings;
    source.Read(readings);
    EXPECT_TRUE(readings.empty());
  }
  EXPECT_EQ(ThreadsLeftBehind(), 1u) << "the process must end by _exit()";
  gate->open.set_value();
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
}

TEST(PolledSourceThread, WaitsForItsNextTurn_EndsAtOnceAndIsJoined) {
  const auto gate = std::make_shared<HangingSource::Gate>();
  gate->open.set_value();
  {
    PolledSource source(std::make_unique<HangingSource>(gate), 1h, std::make_shared<SystemClock>());
    ASSERT_TRUE(source.Start());
    gate->entered.wait();
  }
  EXPECT_EQ(ThreadsLeftBehind(), 0u);
}

}  // namespace
}  // namespace kepler::energy
