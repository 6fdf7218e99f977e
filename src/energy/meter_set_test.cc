#include "energy/meter_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "energy/polled_source.h"
#include "energy/scripted_source.h"
#include "testing/fake_clock.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// A CPU meter, its fallback, and a power supply that is polled.
class MeterSetTest : public ::testing::Test {
 protected:
  MeterSetTest() {
    cpu_.name = "rapl";
    cpu_.Add({"package", "p", "package", {}, {}, {}}, RawCounter{1});
    fallback_.name = "hwmon";
    fallback_.Add({"socket", "s", "socket", {}, {}, {}}, RawCounter{1});
    supply_.name = "psu";
    supply_.domain = status::Domain::kPlatform;
    supply_.Add({"platform", "psu", "psu", {}, {}, {}}, Power::Watts(100));
    std::vector<std::unique_ptr<EnergySource>> sources;
    sources.push_back(std::make_unique<ScriptedSource>(cpu_, clock_));
    sources.push_back(std::make_unique<ScriptedSource>(fallback_, clock_));
    auto selector = std::make_unique<MeterSelector>(std::move(sources), nullptr, clock_);
    EXPECT_TRUE(selector->Open());
    meters_ = std::make_unique<MeterSet>(std::move(selector), clock_);
    auto polled =
        std::make_unique<PolledSource>(std::make_unique<ScriptedSource>(supply_, clock_), 15s, testing::Lend(clock_));
    polled_ = polled.get();
    EXPECT_TRUE(meters_->Add(std::move(polled)));
  }
  void Sample(uint64_t cpu_joules) {
    clock_.Advance(5s);
    std::get<RawCounter>(cpu_.values[0]).microjoules += cpu_joules * 1'000'000;
    meters_->Sample();
  }
  std::vector<std::string> Zones() {
    std::vector<std::string> names;
    for (const status::Zone& zone : meters_->zones()) names.push_back(zone.source + ":" + zone.name);
    EXPECT_EQ(meters_->deltas().size(), names.size());
    return names;
  }

  testing::FakeClock clock_;
  Script cpu_, fallback_, supply_;
  std::unique_ptr<MeterSet> meters_;
  PolledSource* polled_;
};

TEST_F(MeterSetTest, OtherMeterAnswersLater_ItsZonesFollowTheCpus) {
  Sample(1);
  EXPECT_THAT(Zones(), ElementsAre("rapl:package"));
  polled_->Poll();
  Sample(1);
  ASSERT_THAT(Zones(), ElementsAre("rapl:package", "psu:platform"));
  EXPECT_EQ(meters_->zones()[1].domain, status::Domain::kPlatform);
  EXPECT_FALSE(meters_->deltas()[1].fresh);
  Sample(1);
  polled_->Poll();
  Sample(20);
  EXPECT_EQ(meters_->deltas()[0].energy, Energy::Joules(20));
  EXPECT_EQ(meters_->deltas()[1].power.watts(), 100);
  EXPECT_EQ(meters_->primary_zone(), 0u);
}

TEST_F(MeterSetTest, CpuMeterGetsAZone_OthersMoveBehindIt) {
  polled_->Poll();
  Sample(1);
  cpu_.Add({"dram", "d", "dram", {}, {}, {}}, RawCounter{1});
  for (int i = 0; i < 3; ++i) Sample(1);
  EXPECT_THAT(Zones(), ElementsAre("rapl:package", "rapl:dram", "psu:platform"));
}

TEST_F(MeterSetTest, CpuMeterStandsStill_IsReplacedAndTheOthersStay) {
  polled_->Poll();
  for (int i = 0; i < 6; ++i) {
    std::get<RawCounter>(fallback_.values[0]).microjoules += 1'000'000;
    Sample(0);
  }
  EXPECT_THAT(Zones(), ElementsAre("hwmon:socket", "psu:platform"));
}

TEST_F(MeterSetTest, OneMoreOfAName_OrOfTheProcessors_IsRefused) {
  const auto add = [&](const std::string& name, status::Domain measures) {
    Script script;
    script.name = name;
    script.domain = measures;
    return meters_->Add(
        std::make_unique<PolledSource>(std::make_unique<ScriptedSource>(script, clock_), 15s, testing::Lend(clock_)));
  };
  EXPECT_FALSE(add("psu", status::Domain::kPlatform));
  EXPECT_FALSE(add("rapl", status::Domain::kPlatform));
  EXPECT_FALSE(add("bmc", status::Domain::kCpu));
}

TEST_F(MeterSetTest, EstimateOfTheWholeMachine_GetsTheMeasurementsOfItsParts) {
  Script whole;
  whole.name = "model";
  whole.domain = status::Domain::kPlatform;
  whole.Add({"platform", "model", "platform", {}, {}, {}}, RawCounter{1});
  cpu_.Add({"dram", "d", "dram", {}, {}, {}}, RawCounter{1});
  cpu_.Add({"core", "c", "core", {}, {}, {}}, RawCounter{1});
  for (int i = 0; i < 3; ++i) Sample(1);  // until they are found
  ASSERT_TRUE(meters_->AddEstimate(std::make_unique<ScriptedEstimate>(whole, clock_)));
  EXPECT_THAT(Zones(), ElementsAre("rapl:package", "rapl:dram", "rapl:core", "model:platform")) << "it needs no poll";
  std::get<RawCounter>(cpu_.values[1]).microjoules += 2'000'000;
  std::get<RawCounter>(cpu_.values[2]).microjoules += 3'000'000;
  Sample(5);
  EXPECT_EQ(whole.measured[0].energy, Energy::Joules(5));
  EXPECT_EQ(whole.measured[1].energy, Energy::Joules(2));
  EXPECT_TRUE(whole.measured[0].complete && whole.measured[1].complete);
  cpu_.values[0] = Error{ErrorKind::kIo, "EIO"};
  clock_.Advance(5s);
  meters_->Sample();
  EXPECT_FALSE(whole.measured[0].complete);
  EXPECT_TRUE(whole.measured[1].complete);
}

TEST_F(MeterSetTest, EstimatesOfOneName_AreOneSource) {
  const auto estimate = [](std::string_view zone, status::Domain measures) {
    Script script;
    script.name = "model";
    script.domain = measures;
    script.Add({std::string(zone), "model", std::string(zone), {}, {}, {}}, RawCounter{1});
    return script;
  };
  Script parts = estimate("package", status::Domain::kCpu);
  Script whole = estimate("platform", status::Domain::kPlatform);
  auto selector = std::make_unique<MeterSelector>(std::vector<std::unique_ptr<EnergySource>>{},
                                                  std::make_unique<ScriptedEstimate>(parts, clock_), clock_);
  ASSERT_TRUE(selector->Open());
  MeterSet meters(std::move(selector), clock_);
  ASSERT_TRUE(meters.AddEstimate(std::make_unique<ScriptedEstimate>(whole, clock_)));
  whole.values[0] = Error{ErrorKind::kIo, "no"};
  meters.Sample();
  const auto status = meters.status();
  ASSERT_EQ(status.size(), 1u);
  EXPECT_FALSE(status[0].up);
  EXPECT_EQ(status[0].failed_reads, 1u);
}

TEST_F(MeterSetTest, Status_IsOfAllThatWereTried) {
  Sample(1);
  const auto status = meters_->status();
  ASSERT_EQ(status.size(), 2u);
  EXPECT_EQ(status[0].name, "rapl");
  EXPECT_EQ(status[1].name, "psu");
  EXPECT_FALSE(status[1].up);
}

}  // namespace
}  // namespace kepler::energy
