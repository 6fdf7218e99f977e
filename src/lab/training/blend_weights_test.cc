#include "lab/training/blend_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace kepler::lab::training {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

using Candidates = std::vector<std::optional<Tested>>;

Tested OneMachine(double mae) { return {.mae_watts = mae, .by_machine = {mae}}; }
Tested Machines(std::vector<double> errors) { return {.mae_watts = 1, .by_machine = std::move(errors)}; }

TEST(WeightsInBlend, OneMachine_ByTheErrorItself) {
  EXPECT_THAT(WeightsInBlend(Candidates{OneMachine(4), OneMachine(5.1), std::nullopt}), ElementsAre(1, 0, 0));
  const auto weights = WeightsInBlend(Candidates{OneMachine(4.4), OneMachine(4)});
  EXPECT_NEAR(weights[0] / weights[1], 0.47, 0.01);
  EXPECT_THAT(WeightsInBlend(Candidates{OneMachine(0), OneMachine(1)}), ElementsAre(1, 0));
}

TEST(WeightsInBlend, NoCandidateCanBeFitted_TheFirst) {
  EXPECT_THAT(WeightsInBlend(Candidates{std::nullopt, std::nullopt}), ElementsAre(1, 0));
}

/// Worse by 2 W on average, but by -28 to 32 W on single machines.
TEST(WeightsInBlend, SeveralMachines_DoubtGivesNearlyEqualWeights) {
  const auto weights = WeightsInBlend(Candidates{Machines({10, 20, 30, 40}), Machines({42, 2, 32, 32})});
  EXPECT_THAT(weights, Each(DoubleNear(0.5, 0.01)));
}

TEST(WeightsInBlend, SeveralMachines_WorseOnEachOfThem_GetsNothing) {
  EXPECT_THAT(WeightsInBlend(Candidates{Machines({10, 20, 30, 40}), Machines({12, 22.5, 32, 42})}), ElementsAre(1, 0));
  EXPECT_THAT(WeightsInBlend(Candidates{Machines({10, 20}), Machines({12, 22})}), ElementsAre(1, 0));
  EXPECT_THAT(WeightsInBlend(Candidates{Machines({10, 20}), Machines({10, 20})}), ElementsAre(0.5, 0.5));
}

/// A line through few machines may leave the range of numbers that are of use on another machine.
TEST(WeightsInBlend, SeveralMachines_OneHugeErrorIsNoDoubt) {
  const auto weights = WeightsInBlend(Candidates{Machines({10, 20, 30, 40}), Machines({9, 18, 30, 1e15})});
  EXPECT_THAT(weights, ElementsAre(1, 0));
}

}  // namespace
}  // namespace kepler::lab::training
