#include "report/workload_lives.h"

#include <gtest/gtest.h>

namespace kepler::report {
namespace {

std::optional<Energy> Uj(int64_t energy) { return Energy::Microjoules(energy); }

TEST(WorkloadLives, CounterGoesOnWhenItsWorkloadEnds) {
  WorkloadLives lives;
  lives.BeginTick();
  const auto first = lives.Advance(*lives.Find("a"), {}, Uj(5));
  lives.BeginTick();
  EXPECT_EQ(lives.Advance(*lives.Find("a"), Uj(6), {}).ended, first.running);
  lives.BeginTick();
  EXPECT_EQ(lives.Advance(*lives.Find("a"), {}, Uj(6)).running, first.running) << "a container that was started again";
}

TEST(WorkloadLives, SmallerCounter_IsAnother) {
  WorkloadLives lives;
  lives.BeginTick();
  const auto first = lives.Advance(*lives.Find("a"), {}, Uj(5));
  lives.BeginTick();
  const auto second = lives.Advance(*lives.Find("a"), {}, Uj(4));
  EXPECT_NE(second.running, first.running);
  lives.BeginTick();
  const auto both = lives.Advance(*lives.Find("a"), Uj(4), Uj(9));
  EXPECT_EQ(both.ended, second.running);
  EXPECT_NE(both.running, second.running) << "a new workload while the ended one is still listed";
  lives.BeginTick();
  const auto later = lives.Advance(*lives.Find("a"), Uj(4), Uj(10));
  EXPECT_EQ(later.ended, both.ended);
  EXPECT_EQ(later.running, both.running);
}

TEST(WorkloadLives, CounterOfAnotherRun_IsAnother) {
  WorkloadLives lives;
  lives.BeginTick();
  WorkloadLives::Life* const life = lives.Find("a");
  const auto first = lives.Advance(*life, {}, Uj(5));
  lives.BeginRun();
  lives.BeginTick();
  const auto second = lives.Advance(*life, {}, Uj(6));
  EXPECT_NE(second.running, first.running);
  lives.BeginTick();
  EXPECT_EQ(lives.Advance(*life, {}, Uj(7)).running, second.running);
}

TEST(WorkloadLives, CounterThatWasAway_IsAnother) {
  WorkloadLives lives;
  lives.BeginTick();
  const auto first = lives.Advance(*lives.Find("a"), {}, Uj(5));
  lives.BeginTick();
  lives.BeginTick();
  EXPECT_NE(lives.Advance(*lives.Find("a"), {}, Uj(6)).running, first.running);
  lives.BeginTick();
  lives.ForgetEnded();
  lives.BeginTick();
  EXPECT_NE(lives.Advance(*lives.Find("a"), {}, Uj(7)).running, first.running);
}

}  // namespace
}  // namespace kepler::report
