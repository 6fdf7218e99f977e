#include "lab/training/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lab/training/trainer.h"

namespace kepler::lab::training {
namespace {

// Twelve rows of two features, which every trainer can be fitted to.
Samples Small() {
  Samples samples{.features = {.columns = 2, .values = {}}, .labels = {}, .groups = {}};
  for (int i = 0; i < 12; ++i) {
    samples.features.values.push_back(i);
    samples.features.values.push_back((i * 5) % 7);
    samples.labels.push_back(20 + 2 * i);
  }
  return samples;
}

TEST(DrawCandidate, EachIsATrainerThatTakesItsNumbers) {
  std::mt19937_64 random(1);
  std::set<std::string_view> trainers;
  for (int i = 0; i < 200; ++i) {
    Candidate candidate = DrawCandidate(random);
    const Trainer* trainer = FindTrainer(candidate.trainer);
    ASSERT_NE(trainer, nullptr) << candidate.name;
    const bool first = trainers.insert(candidate.trainer).second;
    if (!first) continue;
    const auto fit = trainer->fit(Small(), {.parameters = candidate.parameters, .seed = 1});
    EXPECT_TRUE(fit) << candidate.name << ": " << fit.error().message;
  }
  EXPECT_EQ(trainers.size(), 8U);
}

TEST(DrawCandidate, OneSeed_OneSequence_AndAnotherSeedAnother) {
  const auto draw = [](uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) names.push_back(DrawCandidate(random).name);
    return names;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(DrawCandidate, TheNameSaysItsNumbers) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 50; ++i) {
    const Candidate candidate = DrawCandidate(random);
    EXPECT_THAT(candidate.name, testing::StartsWith(std::string(candidate.trainer) + "("));
    for (const auto& [name, value] : candidate.parameters)
      EXPECT_THAT(candidate.name, testing::HasSubstr(name + "=")) << value;
  }
}

}  // namespace
}  // namespace kepler::lab::training
