#include "lab/training/auto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "lab/training/candidates.h"
#include "lab/training/validation.h"

namespace kepler::lab::training {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::Each;
using testing::Field;
using testing::Ge;
using testing::Le;
using testing::Optional;

double WattsOf(std::span<const double> row) { return 30 + 2e-9 * row[1] + 1e-9 * row[2]; }

/// A machine with CPU time, cycles and instructions whose watts follow its cycles and instructions, with noise; time
/// stands for cycles where `time_counts`.
Samples Machine(size_t rows, bool time_counts, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> level(0, 4e10);
  std::uniform_real_distribution<double> per_cycle(0.3, 3);
  std::uniform_real_distribution<double> share(0.8, 1.2);  // of cycles at another frequency
  std::normal_distribution<double> noise(0, 1);
  Samples samples{.features = {.columns = 3, .values = {}}, .labels = {}, .groups = {}};
  for (size_t i = 0; i < rows; ++i) {
    const double cycles = level(random);
    const double row[] = {time_counts ? cycles * share(random) / 3e6 : 100, cycles, cycles * per_cycle(random)};
    samples.features.values.insert(samples.features.values.end(), std::begin(row), std::end(row));
    samples.labels.push_back(WattsOf(row) + noise(random));
  }
  return samples;
}

double MaeOf(const model::Predictor& predictor, const Samples& samples) {
  std::vector<double> predicted;
  for (size_t row = 0; row < samples.labels.size(); ++row)
    predicted.push_back(model::Predict(predictor, samples.features.row(row)));
  return Judge(predicted, samples.labels).mae_watts;
}

TEST(Auto, WeightsAreABlend_AndTheBestHasMost) {
  const auto fit = FitAuto(Machine(400, true, 1), {});
  ASSERT_TRUE(fit) << fit.error().message;
  double sum = 0;
  const CandidateScore* best = &fit->scores.front();
  for (const CandidateScore& score : fit->scores) {
    sum += score.weight;
    if (score.mae_watts < best->mae_watts) best = &score;
  }
  EXPECT_THAT(sum, DoubleNear(1, 1e-12));
  EXPECT_THAT(fit->scores, Each(Field(&CandidateScore::weight, Le(best->weight))));
  EXPECT_EQ(best->name, "linear");  // it is what the machine is
  EXPECT_TRUE(model::Check(fit->predictor, 3));
  EXPECT_LT(MaeOf(fit->predictor, Machine(400, true, 2)), 1.2);  // the noise alone makes 0.8
}

TEST(Auto, TheSameAgain) {
  const Samples samples = Machine(50, true, 3);
  const auto first = FitAuto(samples, {.seed = 7});
  const auto second = FitAuto(samples, {.seed = 7});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->predictor, second->predictor);
}

// Work of the kernel in interrupts is CPU time of no process: trees that had learnt watts from time would see an idle
// machine.
TEST(Auto, TimeThatStopsToStandForWork_DoesNotMislead) {
  const std::vector<std::string> names = {"bpf_cpu_time_ms", "cpu_cycles", "cpu_instructions"};
  for (const size_t rows : {kSmallTable, 2 * kSmallTable}) {
    const auto fit = FitAuto(Machine(rows, true, 4), {.features = names});
    ASSERT_TRUE(fit) << fit.error().message;
    EXPECT_LT(MaeOf(fit->predictor, Machine(300, false, 5)), 0.1 * 60) << rows;
  }
}

// Trees need a step for each few rows of a curve, and a polynomial has only one bend.
TEST(Auto, CurveOfFewRows_IsFollowed) {
  const auto curve = [](size_t rows, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> load(0, 1);
    Samples samples{.features = {.columns = 1, .values = {}}, .labels = {}, .groups = {}};
    for (size_t row = 0; row < rows; ++row) {
      samples.features.values.push_back(load(random));
      samples.labels.push_back(100 + 50 * std::sin(6 * samples.features.values.back()));
    }
    return samples;
  };
  const auto fit = FitAuto(curve(60, 16), {});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_LT(MaeOf(fit->predictor, curve(300, 17)), 1);
}

TEST(Auto, FewRows_Linear) {
  const auto fit = FitAuto(Machine(9, true, 6), {});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->scores.front().weight, 1);
  EXPECT_TRUE(std::holds_alternative<model::Linear>(fit->predictor.formula));
  for (const size_t rows : {1u, 2u, 3u}) {
    const auto few = FitAuto(Machine(rows, true, 7), {});
    ASSERT_TRUE(few) << few.error().message;
    EXPECT_TRUE(std::isfinite(model::Predict(few->predictor, std::vector<double>{1, 1, 1})));
  }
}

// Degree two of numbers whose squares are none cannot be fitted.
TEST(Auto, CandidateThatCannotBeFitted_HasNoScoreAndNoPart) {
  Samples samples = Machine(60, true, 10);
  samples.features.values[0] = 1e308;
  samples.features.values[3] = -1e308;
  const auto fit = FitAuto(samples, {});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_THAT(fit->scores, Contains(Field(&CandidateScore::mae_watts, std::nullopt)));
  for (const CandidateScore& score : fit->scores) {
    EXPECT_TRUE(std::isfinite(score.mae_watts.value_or(0))) << score.name;
    EXPECT_TRUE(score.mae_watts || score.weight == 0) << score.name;
  }
}

TEST(Auto, MoreRowsThanNeighborsAreKeptOf_KnnIsNotTried) {
  for (const size_t most : {49u, 50u}) {
    const auto fit = FitAuto(Machine(50, true, 11), {.max_neighbors = most});
    ASSERT_TRUE(fit) << fit.error().message;
    const auto knn = std::ranges::find(fit->scores, "knn(k=3)", &CandidateScore::name);
    ASSERT_NE(knn, fit->scores.end());
    EXPECT_EQ(knn->mae_watts.has_value(), most == 50);
  }
}

size_t Kept(const AutoFit& fit) { return fit.scores.size() - FixedCandidates(kSmallTable).size(); }

TEST(Search, FindsWhatTheFixedOnesMiss_AndSaysWhat) {
  Samples samples = Machine(100, true, 12);
  for (size_t row = 0; row < samples.labels.size(); ++row)  // a step that a line misses
    samples.labels[row] = samples.features.row(row)[1] > 2e10 ? 90 : 40;
  const auto without = FitAuto(samples, {});
  const auto with = FitAuto(samples, {.seed = 2, .search = {.candidates = 12}});
  ASSERT_TRUE(without && with);
  EXPECT_EQ(Kept(*without), 0U);
  EXPECT_EQ(without->searched, 0U);
  EXPECT_EQ(Kept(*with), kMaxSearched);
  EXPECT_GT(with->searched, kMaxSearched);
  EXPECT_LE(with->searched, 12U);
  const auto best = [](const AutoFit& fit) {
    return *std::ranges::min(fit.scores, {}, &CandidateScore::mae_watts).mae_watts;
  };
  EXPECT_LE(best(*with), best(*without));
  const auto again = FitAuto(samples, {.seed = 2, .search = {.candidates = 12}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->predictor, with->predictor);
}

TEST(Search, EndsWhereItIsGoodEnough) {
  const auto good = FitAuto(Machine(40, true, 13), {.search = {.candidates = 1000, .good_enough_watts = 1e6}});
  ASSERT_TRUE(good);
  EXPECT_EQ(good->searched, 0U);
  EXPECT_EQ(Kept(*good), 0U);
}

// The fixed candidates take longer than a nanosecond; their time is not the search's.
TEST(Search, BudgetThatIsOverAtOnce_TriesOne) {
  const auto over =
      FitAuto(Machine(40, true, 13), {.search = {.candidates = 1000, .budget = std::chrono::nanoseconds(1)}});
  ASSERT_TRUE(over);
  EXPECT_EQ(over->searched, 1U);
  EXPECT_LE(Kept(*over), 1U);
}

TEST(Search, BudgetThatIsNotUsedUp_ChangesNothing) {
  const Samples samples = Machine(40, true, 13);
  const auto some = FitAuto(samples, {.search = {.candidates = 4, .budget = std::chrono::hours(24)}});
  const auto same = FitAuto(samples, {.search = {.candidates = 4}});
  ASSERT_TRUE(some && same);
  EXPECT_EQ(some->searched, same->searched);
  EXPECT_EQ(some->predictor, same->predictor);
}

TEST(Auto, NoRowsAndNoNumbers_AreErrors) {
  EXPECT_FALSE(FitAuto({.features = {.columns = 3, .values = {}}, .labels = {}, .groups = {}}, {}));
  Samples samples = Machine(20, true, 8);
  samples.labels[3] = std::nan("");
  EXPECT_FALSE(FitAuto(samples, {}));
}

TEST(Auto, LabelsThatAllAreTheSame_AreSaidAgain) {
  Samples samples = Machine(50, true, 9);
  for (double& label : samples.labels) label = 12.5;
  const auto fit = FitAuto(samples, {});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_NEAR(MaeOf(fit->predictor, samples), 0, 1e-6);
}

// Blocks of a sorted table are loads that training has not seen: they prefer the line to the step.
TEST(Auto, SortedByLoad_IsJudgedLikeTheSameRowsInTime) {
  Samples samples = Machine(120, true, 14);
  for (size_t row = 0; row < samples.labels.size(); ++row) {
    samples.labels[row] = samples.features.row(row)[1] > 2e10 ? 90 : 40;
    samples.labels[row] += static_cast<double>(row % 7);
  }
  std::vector<size_t> order(samples.labels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t row) { return samples.labels[row]; });
  const auto sorted = FitAuto(Subset(samples, order), {});
  ASSERT_TRUE(sorted) << sorted.error().message;
  EXPECT_EQ(sorted->scores.front().name, "linear");
  EXPECT_EQ(sorted->scores.front().weight, 0);
  EXPECT_LT(std::ranges::min(sorted->scores, {}, &CandidateScore::mae_watts).mae_watts, 5);
}

// A line of four weights needs nine machines.
TEST(Auto, FewerMachinesThanALineNeeds_AreFittedWithoutIt) {
  for (const uint32_t machines : {8U, 9U}) {
    Samples samples = Machine(100, true, 15);
    for (size_t row = 0; row < samples.labels.size(); ++row)
      samples.groups.push_back(static_cast<uint32_t>(row) % machines);
    const auto fit = FitAuto(samples, {});
    ASSERT_TRUE(fit) << fit.error().message;
    EXPECT_EQ(fit->scores.front().mae_watts.has_value(), machines > 8) << machines;
  }
}

// Five small machines with a step, and a large one that no other machine is like.
TEST(Auto, SeveralMachines_ALargeOneCountsLikeASmallOne) {
  Samples samples{.features = {.columns = 2, .values = {}}, .labels = {}, .groups = {}};
  for (uint32_t machine = 0; machine < 6; ++machine)
    for (int load = 0; load < 20; ++load) {
      const bool large = machine == 5;
      samples.features.values.push_back(load);
      samples.features.values.push_back(large ? 1 : 0);
      samples.labels.push_back(large ? 3000 + 20 * load : load < 10 ? 10 : 30);
      samples.groups.push_back(machine);
    }
  const auto fit = FitAuto(samples, {});
  ASSERT_TRUE(fit) << fit.error().message;
  for (const CandidateScore& score : fit->scores) {
    const bool smooth = score.name.starts_with("polynomial") || score.name.starts_with("svr");
    EXPECT_TRUE(!smooth || score.weight == 0) << score.name << " misses the step, and weighs " << score.weight;
  }
}

// Between machines a model can use only the features that describe them.
TEST(Auto, WholeMachinesAreLeftOut) {
  Samples samples{.features = {.columns = 1, .values = {}}, .labels = {}, .groups = {}};
  for (uint32_t machine = 0; machine < 6; ++machine)
    for (int load = 0; load < 20; ++load) {
      samples.features.values.push_back(100.0 * machine + load);
      samples.labels.push_back(machine % 2 == 0 ? 50 : 150);
      samples.groups.push_back(machine);
    }
  const auto together = FitAuto(samples, {});
  ASSERT_TRUE(together) << together.error().message;
  // Half of the rows are 50 W from the mean, and no other machine tells which half.
  EXPECT_THAT(together->scores, Each(Field(&CandidateScore::mae_watts, Optional(Ge(20)))));
}

}  // namespace
}  // namespace kepler::lab::training
