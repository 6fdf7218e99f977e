// Trained models, as the source uses them.
#include "energy/modeled/zone_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/modeled/model_test_util.h"

namespace kepler::energy::modeled {
namespace {

using namespace std::chrono_literals;
using model::Component;
using snapshot::Domain;
using ::testing::ElementsAre;

class ZoneModelsTest : public ModelledMachine {
 protected:
  /// A second in which half of one processor is busy: 500 ms.
  void Second() {
    ++seconds_;
    Stat(seconds_ * 50, seconds_ * 150, 2);
    SampleAfter(1s);
  }
  const snapshot::ZoneModel& Used(size_t i) { return source_->estimate()->models->at(i); }

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
  EXPECT_EQ(Used(1).source, "built-in");
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
  EXPECT_EQ(source_->estimate()->extrapolated, 1u) << "it was trained on 0 to 1000";
  events_->counted = false;
  events_->at = clock_.Now() + 1s;
  Second();
  EXPECT_EQ(Used(0).source, "built-in");
}

TEST_F(ZoneModelsTest, FeatureWithoutWeight_NeedsNotBeKnown) {
  auto known = Line("weights", "bpf_cpu_time_ms", {{Component::kPackage, {5, {0.01, 0}}}});
  known.model.features.emplace_back("bpf_page_cache_hit");
  known.model.domain.push_back({10, 20});
  Set({known});
  Open(Domain::kCpu);
  Second();
  EXPECT_NEAR(Joules("package"), 5 + 0.01 * 500, 1e-5);
  EXPECT_EQ(source_->estimate()->extrapolated, 0u);
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
  EXPECT_GE(source_->estimate()->clamped, 1u);
}

/// So much passes each time that somebody looks.
class SlowClock final : public Clock {
 public:
  explicit SlowClock(const Clock& clock) : clock_(clock) {}
  [[nodiscard]] BootTime Now() const override { return clock_.Now() + ++looks_ * 2ms; }
  [[nodiscard]] WallTime Wall() const override { return clock_.Wall(); }

 private:
  const Clock& clock_;
  mutable int64_t looks_ = 0;
};

TEST_F(ZoneModelsTest, ModelThatTakesTooLong_IsNotUsed) {
  Set({Line("slow", "bpf_cpu_time_ms", {{Component::kPackage, {10, {0}}}})});
  const SlowClock slow(clock_);
  ModelSource source(options_, Domain::kCpu, slow);
  ASSERT_TRUE(source.Discover());
  EXPECT_EQ(source.estimate()->models->at(0).source, "built-in");
}

}  // namespace
}  // namespace kepler::energy::modeled
