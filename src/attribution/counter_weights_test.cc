#include "attribution/counter_weights.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace kepler::attribution {
namespace {

using snapshot::Method;

constexpr double kHuge = 1.8e19;

/// Ticks whose instructions per cycle differ, all of the same mix.
MixFit Taught(double per_cycle, double per_instruction, uint32_t ticks = MixFit::kEnoughTicks) {
  MixFit fit;
  for (uint32_t i = 0; i < ticks; ++i) {
    const double cycles = 1e9 + 1e8 * i;
    const double instructions = 1e9 * (1 + i % 3);
    fit.Learn(cycles, instructions, per_cycle * cycles + per_instruction * instructions);
  }
  return fit;
}

TEST(MixFit, ExactTicks_GiveTheMixBack) {
  const auto mix = Taught(3e-3, 1e-3).Solve();
  ASSERT_TRUE(mix);
  EXPECT_NEAR(mix->per_cycle, 3e-3, 1e-9);
  EXPECT_NEAR(mix->per_instruction, 1e-3, 1e-9);
}

TEST(MixFit, TooFewTicks_SayNothing) { EXPECT_FALSE(Taught(3e-3, 1e-3, MixFit::kEnoughTicks - 1).Solve()); }

TEST(MixFit, SameInstructionsPerCycleThroughout_CannotBeDistinguished) {
  MixFit fit;
  for (int i = 1; i <= 50; ++i) fit.Learn(1e9 * i, 2e9 * i, 5e6 * i);
  EXPECT_FALSE(fit.Solve());
}

TEST(MixFit, ColumnOfZeros_CannotBeFitted) {
  MixFit no_instructions;
  MixFit no_energy;
  for (int i = 1; i <= 50; ++i) {
    no_instructions.Learn(1e9 * i, 0, 5e6 * i);
    no_energy.Learn(1e9, 1e9 * (i % 3), 0);
  }
  EXPECT_FALSE(no_instructions.Solve());
  EXPECT_FALSE(no_energy.Solve());
}

TEST(MixFit, InstructionsThatSeemToSaveEnergy_CostNothing) {
  MixFit fit;
  // 4 per cycle, -1 per instruction.
  for (int i = 0; i < 30; ++i) {
    const double instructions = 1e9 * (1 + i % 3);
    fit.Learn(2e9, instructions, 8e9 - instructions);
  }
  const auto mix = fit.Solve();
  ASSERT_TRUE(mix);
  EXPECT_EQ(mix->per_instruction, 0);
  EXPECT_GT(mix->per_cycle, 0);
}

TEST(MixFit, NewMix_ReplacesTheOldOne) {
  MixFit fit = Taught(3e-3, 1e-3);
  for (int i = 0; i < 400; ++i) {
    const double instructions = 1e9 * (1 + i % 3);
    fit.Learn(1e9, instructions, 1e-3 * 1e9 + 5e-3 * instructions);
  }
  const auto mix = fit.Solve();
  ASSERT_TRUE(mix);
  EXPECT_NEAR(mix->per_instruction / mix->per_cycle, 5, 0.05);
}

TEST(MixFit, NotFiniteOrNegative_Ignored) {
  MixFit fit = Taught(3e-3, 1e-3);
  fit.Learn(std::numeric_limits<double>::infinity(), 1, 1);
  fit.Learn(1, std::numeric_limits<double>::quiet_NaN(), 1);
  fit.Learn(1, 1, -1);
  ASSERT_TRUE(fit.Solve());
  EXPECT_NEAR(fit.Solve()->per_cycle, 3e-3, 1e-9);
}

RC_GTEST_PROP(MixFit, AnyTicks_NeverNegative, ()) {
  MixFit fit;
  for (int ticks = *rc::gen::inRange(0, 60); ticks > 0; --ticks) {
    const auto number = [] { return std::ldexp(*rc::gen::inRange(0, 1000), *rc::gen::inRange(0, 54)); };
    fit.Learn(number(), number(), number());
    if (const auto mix = fit.Solve()) {
      RC_ASSERT(std::isfinite(mix->per_cycle) && mix->per_cycle >= 0);
      RC_ASSERT(std::isfinite(mix->per_instruction) && mix->per_instruction >= 0);
      RC_ASSERT(mix->per_cycle + mix->per_instruction > 0);
    }
  }
}

RC_GTEST_PROP(MixFit, KnownMix_IsRecovered, ()) {
  const double per_cycle = *rc::gen::inRange(0, 1000) * 1e-6;
  const double per_instruction = *rc::gen::inRange(1, 1000) * 1e-6;
  const auto mix = Taught(per_cycle, per_instruction, 40).Solve();
  RC_ASSERT(mix.has_value());
  RC_ASSERT(std::abs(mix->per_cycle - per_cycle) < 1e-9);
  RC_ASSERT(std::abs(mix->per_instruction - per_instruction) < 1e-9);
}

/// A package and a memory zone.
class CounterWeightsTest : public ::testing::Test {
 protected:
  CounterWeightsTest() {
    const std::vector<status::Zone> zones = {{"package", "p", "x"}, {"dram", "d", "x"}};
    weights_.SetZones(zones);
  }
  std::span<const uint64_t> Of(size_t zone, bool learn = true) { return weights_.Of(zone, Energy::Joules(10), learn); }
  void Begin(const std::vector<uint64_t>& cpu, const std::vector<HardwareEvents>& events) {
    usage_.Clear();
    for (size_t i = 0; i < cpu.size(); ++i) usage_.Add({}, Nanoseconds(static_cast<int64_t>(cpu[i])), events[i]);
    weights_.BeginTick();
  }
  static double Share(std::span<const uint64_t> weights, size_t index) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    return static_cast<double>(weights[index]) / sum;
  }

  static constexpr size_t kPackage = 0;
  static constexpr size_t kDram = 1;
  UsageList usage_;
  CounterWeights weights_{usage_};
};

TEST_F(CounterWeightsTest, BeforeEnoughTicks_CyclesDecide) {
  Begin({100, 100}, {{300, 10, 0}, {100, 990, 0}});
  EXPECT_NEAR(Share(Of(kPackage), 0), 0.75, 1e-9);
  EXPECT_EQ(weights_.method(kPackage), Method::kCycles);
}

TEST_F(CounterWeightsTest, Memory_MissesDecide) {
  Begin({100, 100}, {{300, 10, 9}, {100, 990, 1}});
  EXPECT_NEAR(Share(Of(kDram), 0), 0.9, 1e-9);
  EXPECT_EQ(weights_.method(kDram), Method::kCacheMisses);
}

TEST_F(CounterWeightsTest, MemoryWithoutMisses_CpuTimeDecides) {
  Begin({100, 300}, {{300, 10, 0}, {100, 990, 0}});
  EXPECT_EQ(Share(Of(kDram), 1), 0.75);
  EXPECT_EQ(weights_.method(kDram), Method::kCpuTime);
}

TEST_F(CounterWeightsTest, FittedMix_DecidesAndIsNamed) {
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t instructions = 1'000'000 * (1 + i % 3);
    Begin({1000}, {{1'000'000, instructions, 0}});
    // One microjoule per cycle, three per instruction.
    static_cast<void>(
        weights_.Of(kPackage, Energy::Microjoules(static_cast<int64_t>(1'000'000 + 3 * instructions)), true));
  }
  Begin({100, 100}, {{1000, 1000, 0}, {1000, 0, 0}});
  EXPECT_NEAR(Share(Of(kPackage, false), 0), 0.8, 1e-6);
  EXPECT_EQ(weights_.method(kPackage), Method::kCyclesInstructionsMix);
}

TEST_F(CounterWeightsTest, TicksInWhichSomeHaveNoEvents_TeachTheSameMix) {
  for (uint64_t i = 0; i < 21; ++i) {
    const uint64_t instructions = 1'000'000 * (1 + i % 3);
    const uint64_t alike = 1 + i % 2;  // processes that do the same; of the second nothing is counted
    std::vector<HardwareEvents> events(alike);
    events[0] = {1'000'000, instructions, 0};
    Begin(std::vector<uint64_t>(alike, 1000), events);
    const auto microjoules = static_cast<int64_t>(alike * (1'000'000 + 3 * instructions));
    static_cast<void>(weights_.Of(kPackage, Energy::Microjoules(microjoules), true));
  }
  Begin({100, 100}, {{1000, 1000, 0}, {1000, 0, 0}});
  EXPECT_NEAR(Share(Of(kPackage, false), 0), 0.8, 1e-6);
}

TEST_F(CounterWeightsTest, TicksNotToLearnFrom_AreNot) {
  for (uint64_t i = 0; i < 20; ++i) {
    Begin({1000}, {{1'000'000, 1'000'000 * (1 + i % 3), 0}});
    static_cast<void>(Of(kPackage, false));
  }
  EXPECT_EQ(weights_.method(kPackage), Method::kCycles);
}

TEST_F(CounterWeightsTest, TimeWithoutEvents_WeighsAsTheOthersOnAverage) {
  Begin({100, 300, 400}, {{100, 0, 4}, {700, 0, 0}, {}});
  const auto package = Of(kPackage);
  EXPECT_NEAR(Share(package, 2), 0.5, 1e-9);
  EXPECT_NEAR(Share(package, 0), 1.0 / 16, 1e-9);
  EXPECT_NEAR(Share(Of(kDram), 2), 0.5, 1e-9);
  EXPECT_EQ(Of(kDram)[1], 0u);  // it is counted, and missed nothing
}

TEST_F(CounterWeightsTest, NobodyHasEvents_CpuTimeAsItIs) {
  Begin({100, 300}, {{}, {}});
  EXPECT_EQ(Of(kPackage)[1], 300u);
  EXPECT_EQ(weights_.method(kPackage), Method::kCpuTime);
}

TEST_F(CounterWeightsTest, NothingRan_MethodStays) {
  Begin({100}, {{300, 10, 9}});
  static_cast<void>(Of(kPackage));
  Begin({}, {});
  EXPECT_TRUE(Of(kPackage).empty());
  EXPECT_EQ(weights_.method(kPackage), Method::kCycles);
}

TEST_F(CounterWeightsTest, HugeCounts_SumStaysFarBelowTheLimit) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  Begin({kMax / 8, kMax / 8, kMax / 8}, {{kMax, kMax, kMax}, {kMax, 1, 1}, {}});
  for (const size_t zone : {kPackage, kDram}) {
    const auto weights = Of(zone);
    for (const uint64_t weight : weights) EXPECT_LE(weight, uint64_t{1} << 41);
    EXPECT_NEAR(Share(weights, 2), 1.0 / 3, 1e-9);
  }
}

RC_GTEST_PROP(CounterWeights, AnyTick_WeightsOfAllAndNoOverflow, ()) {
  UsageList usage;
  CounterWeights weights(usage);
  const std::vector<status::Zone> zones = {{"package", "p", "x"}, {"dram", "d", "x"}};
  weights.SetZones(zones);
  for (int ticks = *rc::gen::inRange(1, 30); ticks > 0; --ticks) {
    usage.Clear();
    const auto number = [] { return *rc::gen::inRange<uint64_t>(0, 1000) << *rc::gen::inRange(0, 54); };
    for (int users = *rc::gen::inRange(0, 8); users > 0; --users) {
      const Nanoseconds time(static_cast<int64_t>(1 + number() / 64));
      usage.Add({}, time,
                *rc::gen::inRange(0, 3) == 0 ? HardwareEvents{} : HardwareEvents{number(), number(), number()});
    }
    weights.BeginTick();
    for (size_t zone = 0; zone < 2; ++zone) {
      const auto given = weights.Of(zone, Energy::Microjoules(*rc::gen::inRange<int64_t>(0, 1 << 30)), true);
      RC_ASSERT(given.size() == usage.users().size());
      double sum = 0;
      for (const uint64_t weight : given) sum += static_cast<double>(weight);
      RC_ASSERT(given.empty() || sum > 0);
      RC_ASSERT(sum < kHuge);
    }
  }
}

}  // namespace
}  // namespace kepler::attribution
