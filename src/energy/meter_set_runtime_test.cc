// Meters of the platform that appear and go while the agent runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "energy/meter_set.h"
#include "energy/polled_source.h"
#include "energy/scripted_source.h"
#include "testing/fake_clock.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A counter that advances by one joule a second, whether it can be read or not.
struct Source {
  explicit Source(std::string name, Authority authority) {
    script.name = std::move(name);
    script.authority = authority;
    script.domain = status::Domain::kPlatform;
    script.Add({"platform", script.name, script.name, {}, {}, {}}, RawCounter{1});
  }
  void Show(Nanoseconds now, bool readable) {
    script.values[0] = RawCounter{static_cast<uint64_t>((now - script.age) / 1us)};
    if (!readable) script.values[0] = Error{ErrorKind::kIo, "no route to the BMC"};
  }
  Script script;
};

/// A machine whose packages are metered and whose platform is estimated.
struct Machine {
  Machine() {
    cpu.Add({"package", "p", "package", {}, {}, {}}, RawCounter{1});
    cpu.name = "rapl";
    std::vector<std::unique_ptr<EnergySource>> sources;
    sources.push_back(std::make_unique<ScriptedSource>(cpu, clock));
    auto selector = std::make_unique<MeterSelector>(std::move(sources), nullptr, clock);
    EXPECT_TRUE(selector->Open());
    meters = std::make_unique<MeterSet>(std::move(selector), clock);
    EXPECT_TRUE(meters->AddEstimate(std::make_unique<ScriptedEstimate>(model.script, clock)));
  }
  void Add(Source& source) { EXPECT_TRUE(meters->Add(std::make_unique<ScriptedSource>(source.script, clock))); }
  PolledSource& AddPolled(Source& source) {
    auto polled = std::make_unique<PolledSource>(std::make_unique<ScriptedSource>(source.script, clock), 15s,
                                                 testing::Lend(clock));
    PolledSource& added = *polled;
    EXPECT_TRUE(meters->Add(std::move(polled)));
    return added;
  }
  [[nodiscard]] Nanoseconds Uptime() const { return clock.Now().time_since_epoch(); }
  void Sample() {
    std::get<RawCounter>(cpu.values[0]).microjoules += 1;
    model.Show(Uptime(), true);
    meters->Sample();
    for (size_t z = 0; z < meters->zones().size(); ++z)
      joules[meters->zones()[z].source] += meters->deltas()[z].energy.ToJoules();
  }
  [[nodiscard]] const ZoneDelta& Of(const std::string& source) const {
    size_t z = 0;
    while (z < meters->zones().size() && meters->zones()[z].source != source) ++z;
    return meters->deltas()[z];
  }
  [[nodiscard]] std::vector<std::string> Zones() const {
    std::vector<std::string> names;
    for (const status::Zone& zone : meters->zones()) names.push_back(zone.source + ":" + zone.name);
    return names;
  }

  testing::FakeClock clock;
  Script cpu;
  Source model{"model", Authority::kEstimated};
  std::unique_ptr<MeterSet> meters;
  std::map<std::string, double> joules;  // by source
};

class MeterSetRuntime : public ::testing::Test {
 protected:
  /// Five seconds pass `times` times; the supplies are readable or not.
  void Run(int times) {
    for (int i = 0; i < times; ++i) {
      machine_.clock.Advance(5s);
      for (Source* source : shown_) source->Show(machine_.Uptime(), readable_);
      if (polled_ != nullptr && ++ticks_ % 3 == 0) polled_->Poll();
      machine_.Sample();
    }
  }
  Machine machine_;
  std::vector<Source*> shown_;
  bool readable_ = true;
  PolledSource* polled_ = nullptr;
  int ticks_ = 0;
};

TEST_F(MeterSetRuntime, SupplyAnswersAfterAMinute_ReplacesTheEstimate) {
  Source supply("psu", Authority::kMeasured);
  shown_ = {&supply};
  readable_ = false;
  polled_ = &machine_.AddPolled(supply);
  Run(12);
  EXPECT_THAT(machine_.Zones(), ElementsAre("rapl:package", "model:platform"));
  EXPECT_DOUBLE_EQ(machine_.joules["model"], 55) << "the first sample is the baseline";
  readable_ = true;
  ::testing::internal::CaptureStdout();
  Run(48);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("energy meter is available, using it instead of a less reliable source\" meter=psu "
                        "instead_of=model"));
  EXPECT_THAT(machine_.Zones(), ElementsAre("rapl:package", "model:platform", "psu:platform"));
  EXPECT_FALSE(machine_.Of("model").fresh);
  EXPECT_EQ(machine_.Of("model").power.watts(), 0);
  EXPECT_TRUE(machine_.Of("psu").fresh);
  const double counted = machine_.joules["model"] + machine_.joules["psu"];
  EXPECT_LE(counted, 295);
  EXPECT_GE(counted, 295 - 15) << "less than one interval between two readings is missing";
}

TEST_F(MeterSetRuntime, SupplyGoes_TheEstimateCountsAfterFiveMinutes_UntilTheSupplyIsBack) {
  Source supply("psu", Authority::kMeasured);
  shown_ = {&supply};
  machine_.Add(supply);
  Run(12);
  ASSERT_TRUE(machine_.Of("psu").fresh);
  const double estimated = machine_.joules["model"];
  readable_ = false;
  Run(59);
  EXPECT_EQ(machine_.joules["model"], estimated) << "a short failure is caught up by the supply";
  ::testing::internal::CaptureStdout();
  Run(3);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("energy meter is unavailable, using a less reliable source\" meter=psu instead=model"));
  EXPECT_TRUE(machine_.Of("model").fresh);
  EXPECT_THAT(machine_.Zones(), ElementsAre("rapl:package", "model:platform", "psu:platform")) << "its total stays";
  const double measured = machine_.joules["psu"];
  readable_ = true;
  Run(1);
  EXPECT_EQ(machine_.joules["psu"], measured) << "the estimate counted a part of that time";
  Run(10);
  EXPECT_DOUBLE_EQ(machine_.joules["psu"], measured + 50);
  EXPECT_FALSE(machine_.Of("model").fresh);
}

TEST_F(MeterSetRuntime, SupplyGoesForAWhile_CatchesUp) {
  Source supply("psu", Authority::kMeasured);
  shown_ = {&supply};
  machine_.Add(supply);
  Run(12);
  const double before = machine_.joules["psu"];
  readable_ = false;
  Run(10);
  readable_ = true;
  Run(1);
  EXPECT_DOUBLE_EQ(machine_.joules["psu"], before + 55);
}

TEST_F(MeterSetRuntime, TwoSupplies_CountTogether) {
  Source first("psu1", Authority::kMeasured);
  Source second("psu2", Authority::kMeasured);
  shown_ = {&first, &second};
  machine_.Add(first);
  Run(12);
  polled_ = &machine_.AddPolled(second);
  Run(12);
  EXPECT_THAT(machine_.Zones(), ElementsAre("rapl:package", "model:platform", "psu1:platform", "psu2:platform"));
  EXPECT_TRUE(machine_.Of("psu1").fresh && machine_.Of("psu2").fresh);
  EXPECT_FALSE(machine_.Of("model").fresh);
}

TEST(MeterSetOpen, SourceWithoutEnergyYet_LeavesThePlatformToTheEstimate) {
  Machine machine;
  Source supply("psu", Authority::kMeasured);
  machine.Add(supply);
  EXPECT_THAT(machine.Zones(), ElementsAre("rapl:package", "model:platform")) << "the estimate counts until it answers";
}

TEST_F(MeterSetRuntime, SupplyWhoseReadingsAreOld_CountsFromTheEndOfTheEstimate) {
  Source supply("psu", Authority::kMeasured);
  supply.script.age = 7s;
  shown_ = {&supply};
  machine_.Add(supply);
  Run(60);
  EXPECT_DOUBLE_EQ(machine_.joules["model"], 0);
  EXPECT_DOUBLE_EQ(machine_.joules["psu"], 285) << "from 8 s to 293 s; the estimate ends at 5 s";
}

/// At any time one authority counts the platform, whatever answers.
RC_GTEST_PROP(MeterSetRuntimeProperty, SourcesThatComeAndGo_NoSecondIsCountedTwice, ()) {
  Machine machine;
  Source supply("psu", Authority::kMeasured);
  PolledSource& polled = machine.AddPolled(supply);
  supply.script.age = std::chrono::milliseconds(*rc::gen::inRange(0, 20'000));
  bool supply_readable = false;
  const Nanoseconds begin = machine.Uptime();
  for (int tick = 0, ticks = *rc::gen::inRange(1, 80); tick < ticks; ++tick) {
    machine.clock.Advance(std::chrono::milliseconds(*rc::gen::inRange(1, 60'000)));
    if (*rc::gen::inRange(0, 5) == 0) supply_readable = !supply_readable;
    supply.Show(machine.Uptime(), supply_readable);
    if (*rc::gen::arbitrary<bool>()) polled.Poll();
    machine.clock.Advance(std::chrono::milliseconds(*rc::gen::inRange(0, 3'000)));
    machine.Sample();
    const double elapsed = std::chrono::duration<double>(machine.Uptime() - begin).count();
    RC_ASSERT(machine.joules["model"] + machine.joules["psu"] <= elapsed + 1e-5);
  }
}

}  // namespace
}  // namespace kepler::energy
