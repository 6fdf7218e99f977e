// Trained models, as the source uses them.
#include "energy/modeled/zone_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "energy/modeled/model_test_util.h"

namespace kepler::energy::modeled {
namespace {

using namespace std::chrono_literals;
using model::Component;
using status::Domain;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ZoneModelsTest : public ModelledMachine {
 protected:
  /// A second in which half of one processor is busy: 500 ms.
  void Second() {
    ++seconds_;
    Stat(seconds_ * 50, seconds_ * 150, 2);
    SampleAfter(1s);
  }
  const status::ZoneModel& Used(size_t i) { return source_->estimate().models->at(i); }

  int seconds_ = 0;
};

TEST_F(ZoneModelsTest, TrainedModel_IsUsedForTheZonesThatItHas) {
  auto known = Line("mine", "bpf_cpu_time_ms", {{Component::kPackage, {10, {0.02}}}});
  known.model.machine = model::MachineSpec{.processor = "amd_epyc"};
  known.model.components[0].unseen = model::Accuracy{.rows = 5, .mae_watts = 1.25, .mape = 4.5};
  Set({known});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 10 + 0.02 * 500, 1e-5);
  EXPECT_GT(Joules("dram"), 0) << "by the shipped one";
  EXPECT_EQ(Used(0).name, "mine");
  EXPECT_EQ(Used(0).trainer, "linear");
  EXPECT_EQ(Used(0).source, "/etc/kepler/model.json");
  EXPECT_EQ(Used(0).machine, "amd_epyc");
  EXPECT_EQ(Used(0).mae_watts, "1.25");
  EXPECT_EQ(Used(0).mape, "4.5");
  EXPECT_EQ(Used(0).match, "named");
  EXPECT_EQ(Used(1).source, "built-in");
  EXPECT_EQ(Used(1).match, "built_in");
}

TEST_F(ZoneModelsTest, ModelPerCore_ScalesWithTheCpusOfThisMachine) {
  auto known = Line("any size", "bpf_cpu_time_ms", {{Component::kPackage, {10, {0.02}}}});
  known.model.per = model::Per::kCore;
  Set({known});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 2 * (10 + 0.02 * 250), 1e-5);
}

/// A model of CPU time and of the machine's memory and cores.
model::KnownModel WithAttributes() {
  auto known = Line("attributes", "bpf_cpu_time_ms", {{Component::kPackage, {10, {0.02, 0.5, 3}}}});
  known.model.features = {"bpf_cpu_time_ms", "memory_gib", "cores"};
  known.model.domain = {{0, 1000}, {16, 64}, {1, 8}};
  return known;
}

TEST_F(ZoneModelsTest, AttributesOfThisMachine_AreFeatures) {
  options_.machine = {.processor = "amd_epyc", .memory_gib = 32};
  Set({WithAttributes()});
  Open(Domain::kCpu);
  Second();
  EXPECT_EQ(Used(0).name, "attributes");
  EXPECT_NEAR(Joules("package"), 10 + 0.02 * 500 + 0.5 * 32 + 3 * 2, 1e-5);
  EXPECT_EQ(source_->estimate().extrapolated, 0u);
}

TEST_F(ZoneModelsTest, AttributeThatIsNotKnown_ItsModelIsNotUsed) {
  Set({WithAttributes()});
  Open(Domain::kCpu);
  Second();
  EXPECT_EQ(Used(0).source, "built-in");
}

TEST_F(ZoneModelsTest, Guest_AttributesAreNoLoad) {
  options_.machine = {.processor = "amd_epyc", .memory_gib = 32};
  options_.only_load = true;
  Set({WithAttributes()});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 0.02 * 500, 1e-5);
}

/// A host of eight CPUs. This machine, a guest with two of them, has only the processor in common with it.
model::KnownModel OfHost() {
  auto known = Line("host", "bpf_cpu_time_ms", {{Component::kPackage, {100, {0.02}}}});
  known.chosen = false;
  known.model.machine = {.processor = "amd_epyc_7763", .cores = 8, .cpuid = {"AuthenticAMD", 25, 1}};
  return known;
}
const model::MachineSpec kGuest{.processor = "virtual", .cores = 2, .cpuid = {"AuthenticAMD", 25, 1}, .is_guest = true};

TEST_F(ZoneModelsTest, Guest_ModelOfItsHost_IsUsedForTheLoad) {
  options_.machine = kGuest;
  options_.only_load = true;
  Set({OfHost()});
  Open(Domain::kCpu);
  Second();
  EXPECT_EQ(Used(0).name, "host");
  EXPECT_EQ(Used(0).match, "same_processor");
  EXPECT_NEAR(Joules("package"), 0.02 * 500, 1e-5);
}

TEST_F(ZoneModelsTest, GuestWithIdlePower_GetsItsShareOfTheHosts) {
  options_.machine = kGuest;
  Set({OfHost()});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 100 * 2 / 8 + 0.02 * 500, 1e-5);
  options_.machine.is_guest = false;
  auto named = OfHost();
  named.chosen = true;
  Set({named});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 100 + 0.02 * 500, 1e-5);
}

TEST_F(ZoneModelsTest, GuestWithIdlePower_ModelPerCoreIsOfItsSize) {
  options_.machine = kGuest;
  auto known = OfHost();
  known.model.per = model::Per::kCore;
  Set({known});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 2 * (100 + 0.02 * 250), 1e-5);
}

TEST_F(ZoneModelsTest, WhatTheFirstReadingShows_IsKnownFromTheStart) {
  Set({Line("irqs", "bpf_block_irq", {{Component::kPackage, {10, {0.02}}}})});
  const auto domains = ModelSource(options_, Domain::kCpu, clock_).Discover();
  ASSERT_TRUE(domains);
  EXPECT_THAT((*domains)[0].note, ::testing::HasSubstr("irqs"));
}

TEST_F(ZoneModelsTest, AnotherSet_IsFollowed_ZonesStayAndEnergyNeverFalls) {
  Open(Domain::kCpu);
  Second();
  Set({Line("one", "bpf_cpu_time_ms", {{Component::kPackage, {100, {0}}}, {Component::kCore, {40, {0}}}})});
  for (int i = 0; i < 12; ++i) Second();  // until the new zone is looked for
  EXPECT_THAT(Zones(), ElementsAre("package", "dram", "core"));
  EXPECT_NEAR(Joules("package"), 100, 1e-5);
  EXPECT_NEAR(Joules("core"), 40, 1e-5);
  Set({Line("two", "bpf_cpu_time_ms", {{Component::kPackage, {7, {0}}}})});
  for (int i = 0; i < 12; ++i) {
    Second();
    EXPECT_NEAR(Joules("package"), 7, 1e-5);
    EXPECT_EQ(Joules("core"), 0.0);
    EXPECT_FALSE(Zone("core").fresh) << "0 W would be a lie";
  }
  EXPECT_EQ(Zones().size(), 3u);
  EXPECT_EQ(meter_->status().failed_reads, 0u);
  EXPECT_EQ(meter_->status().resets, 0u);
  Set({Line("one", "bpf_cpu_time_ms", {{Component::kPackage, {100, {0}}}, {Component::kCore, {40, {0}}}})});
  Second();
  EXPECT_NEAR(Joules("core"), 40, 1e-5) << "it has not waited for the time in which nobody said anything";
  EXPECT_TRUE(Zone("core").fresh);
  EXPECT_NEAR(Zone("core").power.watts(), 40, 1e-5);
  Set({});
  Second();
  EXPECT_EQ(Used(0).source, "built-in");
}

TEST_F(ZoneModelsTest, FeatureThatIsNotKnown_ItsModelIsNotUsed) {
  Set({Line("counters", "cpu_cycles", {{Component::kPackage, {50, {0.001}}}})});
  Open(Domain::kCpu);
  Second();
  EXPECT_EQ(Used(0).source, "built-in");
  for (int i = 0; i < 2; ++i) {
    events_->counted = true;
    events_->total.cycles += 20'000;
    events_->at = clock_.Now() + 1s;
    Second();
  }
  EXPECT_EQ(Used(0).name, "counters");
  EXPECT_NEAR(Joules("package"), 50 + 0.001 * 20'000, 1e-5);
  EXPECT_EQ(source_->estimate().extrapolated, 1u) << "it was trained on 0 to 1000";
  events_->counted = false;
  events_->at = clock_.Now() + 1s;
  Second();
  EXPECT_EQ(Used(0).source, "built-in");
}

TEST_F(ZoneModelsTest, ModelThatCannotBeUsed_IsAWarningWithTheRemedy_Once) {
  const auto lines = [this](int seconds) {
    ::testing::internal::CaptureStdout();
    for (int i = 0; i < seconds; ++i) Second();
    return ::testing::internal::GetCapturedStdout();
  };
  auto unsaid = Line("unsaid", "bpf_cpu_time_ms", {{Component::kPackage, {10, {0.02}}}});
  unsaid.chosen = false;  // found in a directory
  Set({unsaid});
  Open(Domain::kCpu);
  EXPECT_THAT(lines(20),
              AllOf(HasSubstr("level=WARN"), HasSubstr("no trained model can be used for the zone"),
                    HasSubstr("zone=package"), HasSubstr("it does not name its machine"),
                    HasSubstr("train the model with --machine"), HasSubstr("zone=dram"), HasSubstr("level=INFO")));
  EXPECT_EQ(lines(20), "");
  EXPECT_EQ(Used(0).source, "built-in");
}

TEST_F(ZoneModelsTest, FeaturesThatAreCounted_AreWaitedForBeforeTheWarning) {
  Set({Line("counters", "cpu_cycles", {{Component::kPackage, {50, {0.001}}}, {Component::kDram, {5, {0}}}})});
  ::testing::internal::CaptureStdout();
  Open(Domain::kCpu);
  for (int i = 0; i < 20; ++i) {
    events_->counted = true;
    events_->total.cycles += 20'000;
    events_->at = clock_.Now() + 1s;
    Second();
  }
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), ::testing::Not(HasSubstr("level=WARN")));
  EXPECT_EQ(Used(0).name, "counters");
}

TEST_F(ZoneModelsTest, FeatureWithoutWeight_NeedsNotBeKnown) {
  auto known = Line("weights", "bpf_cpu_time_ms", {{Component::kPackage, {5, {0.01, 0}}}});
  known.model.features.emplace_back("bpf_page_cache_hit");
  known.model.domain.push_back({10, 20});
  Set({known});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 5 + 0.01 * 500, 1e-5);
  EXPECT_EQ(source_->estimate().extrapolated, 0u);
}

TEST_F(ZoneModelsTest, Guest_TheModelsIdlePowerIsTakenOff) {
  options_.only_load = true;
  Set({Line("mine", "bpf_cpu_time_ms", {{Component::kPackage, {10, {0.02}}}})});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 0.02 * 500, 1e-5);
  EXPECT_TRUE(Zone("package").only_load);
  EXPECT_TRUE(Used(0).only_load);
}

TEST_F(ZoneModelsTest, Guest_LoadThatTakesLessThanIdle_IsZero) {
  options_.only_load = true;
  Set({Line("odd", "bpf_cpu_time_ms", {{Component::kPackage, {100, {-0.02}}}})});
  Open(Domain::kCpu);
  Second();
  EXPECT_EQ(Joules("package"), 0.0);
}

TEST_F(ZoneModelsTest, DynPower_IsWhatLoadAddsOnAnyMachine) {
  auto known = Line("dynamic", "bpf_cpu_time_ms", {{Component::kPackage, {3, {0.02}}}});
  known.model.output = model::OutputType::kDynPower;
  Set({known});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 3 + 0.02 * 500, 1e-5);
  EXPECT_TRUE(Zone("package").only_load);
  EXPECT_FALSE(Zone("dram").only_load) << "which the shipped model says with its idle power";
}

TEST_F(ZoneModelsTest, ModelsOfOneMachine_AreInPhysicalOrder) {
  Set({Line("core", "bpf_cpu_time_ms", {{Component::kCore, {80, {0}}}}),
       Line("package", "bpf_cpu_time_ms", {{Component::kPackage, {50, {0}}}})});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 80, 1e-5);
  EXPECT_GE(source_->estimate().clamped, 1u);
}

TEST_F(ZoneModelsTest, LoadOfAPackage_IsNotRaisedToTheIdlePowerOfItsCores) {
  auto package = Line("package", "bpf_cpu_time_ms", {{Component::kPackage, {5, {0}}}});
  package.model.output = model::OutputType::kDynPower;
  auto uncore = Line("uncore", "bpf_cpu_time_ms", {{Component::kUncore, {7, {0}}}});
  uncore.model.output = model::OutputType::kDynPower;
  const auto core = Line("core", "bpf_cpu_time_ms", {{Component::kCore, {30, {0}}}});
  Set({package, core});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 5, 1e-5);
  EXPECT_NEAR(Joules("core"), 30, 1e-5);
  EXPECT_EQ(source_->estimate().clamped, 0u);
  Set({package, core, uncore});
  Second();
  EXPECT_NEAR(Joules("package"), 7, 1e-5) << "load is held to load";
}

TEST_F(ZoneModelsTest, LoadOfTheMachine_IsNotRaisedToTheIdlePowerOfItsParts) {
  auto wall = Line("wall", "bpf_cpu_time_ms", {{Component::kPlatform, {5, {0}}}});
  wall.model.output = model::OutputType::kDynPower;
  Set({wall});
  Open(Domain::kPlatform);
  source_->UseAtLeast({MeasuredPart{.energy = Energy::Joules(30)}, {}});
  Second();
  EXPECT_NEAR(Joules("platform"), 5, 1e-5);
  source_->UseAtLeast({MeasuredPart{.energy = Energy::Joules(30), .only_load = true}, {}});
  Second();
  EXPECT_NEAR(Joules("platform"), 30, 1e-5);
}

TEST_F(ZoneModelsTest, AnotherModel_IsAnotherGeneration) {
  const auto known =
      std::make_shared<const model::KnownModel>(Line("one", "bpf_cpu_time_ms", {{Component::kPackage, {100, {0}}}}));
  const auto put = [&](model::ModelSet set) {
    board_->Set(std::make_shared<const model::ModelSet>(std::move(set)));
    Second();
    return Zone("package").generation;
  };
  Open(Domain::kCpu);
  const uint32_t built_in = Zone("package").generation;
  const uint32_t dram = Zone("dram").generation;
  const uint32_t one = put({known});
  EXPECT_NE(one, built_in);
  const auto second =
      std::make_shared<const model::KnownModel>(Line("wall", "bpf_cpu_time_ms", {{Component::kPlatform, {100, {0}}}}));
  EXPECT_EQ(put({second, known}), one) << "it is in another set";
  EXPECT_NE(put({std::make_shared<const model::KnownModel>(*known)}), one) << "its file was replaced";
  EXPECT_EQ(Zone("dram").generation, dram);
}

/// CPU time as it passes with each look at it.
class SpeedOfModels : public ZoneModelsTest {
 protected:
  SpeedOfModels() {
    options_.cpu_time = [this] { return Nanoseconds(cpu_time_ += next_step_()); };
    slow_ = Slow();
  }
  static std::shared_ptr<const model::KnownModel> Slow() {
    return std::make_shared<const model::KnownModel>(
        Line("slow", "bpf_cpu_time_ms", {{Component::kPackage, {10, {0}}}, {Component::kDram, {3, {0}}}}));
  }
  void Put(model::ModelSet models) { board_->Set(std::make_shared<const model::ModelSet>(std::move(models))); }

  int looks_ = 0;
  Nanoseconds cpu_time_{};
  std::function<Nanoseconds()> next_step_ = [this] {
    ++looks_;
    return Nanoseconds(2ms);
  };
  std::shared_ptr<const model::KnownModel> slow_;
};

TEST_F(SpeedOfModels, ThatTakesTooLong_IsNotUsed_AndIsTimedOnce) {
  Put({slow_});
  Open(Domain::kCpu);
  EXPECT_EQ(Used(0).source, "built-in");
  EXPECT_EQ(looks_, 6) << "three times, for both zones";
  Put({Slow(), slow_});
  Second();
  EXPECT_EQ(looks_, 12) << "the other one";
  Put({slow_});
  Second();
  EXPECT_EQ(looks_, 12);
  EXPECT_EQ(Used(0).source, "built-in");
}

TEST_F(SpeedOfModels, OnceDelayed_IsUsed) {
  next_step_ = [this] { return Nanoseconds(++looks_ <= 2 ? 20ms : 10us); };
  Put({slow_});
  Open(Domain::kCpu);
  EXPECT_EQ(Used(0).name, "slow");
}

TEST_F(SpeedOfModels, OneOfTwo_TheOtherIsUsed) {
  const auto fast = std::make_shared<const model::KnownModel>(
      Line("the fast", "bpf_cpu_time_ms", {{Component::kPackage, {20, {0}}}}));
  next_step_ = [this] { return Nanoseconds(++looks_ <= 6 ? 2ms : 10us); };
  Put({fast, slow_});
  Open(Domain::kCpu);
  EXPECT_EQ(Used(0).name, "the fast");
  EXPECT_EQ(Used(1).source, "built-in") << "what was slow for one zone is for the other";
}

}  // namespace
}  // namespace kepler::energy::modeled
