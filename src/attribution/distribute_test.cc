#include "attribution/distribute.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace kepler::attribution {
namespace {

std::vector<Energy> Split(int64_t microjoules, const std::vector<uint64_t>& weights, Energy* rest = nullptr) {
  Distributor distributor;
  std::vector<Energy> out(weights.size());
  const Energy left = distributor.Distribute(Energy::Microjoules(microjoules), weights, out);
  if (rest != nullptr) *rest = left;
  return out;
}

TEST(Distribute, EqualWeights_LeftoverGoesToLowerIndex) {
  const auto parts = Split(10, {1, 1, 1});
  EXPECT_EQ(parts[0].microjoules(), 4);
  EXPECT_EQ(parts[1].microjoules(), 3);
  EXPECT_EQ(parts[2].microjoules(), 3);
}

TEST(Distribute, LargestRemainder_GetsTheLeftover) {
  const auto parts = Split(10, {15, 15, 70});  // 1.5, 1.5, 7.0
  EXPECT_EQ(parts[0].microjoules(), 2);
  EXPECT_EQ(parts[1].microjoules(), 1);
  EXPECT_EQ(parts[2].microjoules(), 7);
}

TEST(Distribute, NoWeight_EverythingIsLeft) {
  Energy rest;
  const auto parts = Split(7, {0, 0}, &rest);
  EXPECT_EQ(rest.microjoules(), 7);
  EXPECT_EQ(parts[0], Energy{});
  Split(9, {}, &rest);
  EXPECT_EQ(rest.microjoules(), 9);
}

TEST(Distribute, HugeProduct_StaysExact) {
  const auto parts = Split(4'000'000'000'000, {9'000'000'000'000, 1, 9'000'000'000'000});
  EXPECT_EQ(parts[0].microjoules() + parts[1].microjoules() + parts[2].microjoules(), 4'000'000'000'000);
  EXPECT_EQ(parts[0].microjoules(), 2'000'000'000'000);
}

TEST(Distribute, WeightsWhoseSumOverflows_StayInProportion) {
  constexpr uint64_t kMax = UINT64_MAX;
  const auto parts = Split(1'000'000, {kMax, 0, kMax, kMax, kMax / 2, kMax / 2, 1});
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), Energy{}).microjoules(), 1'000'000);
  EXPECT_EQ(parts[0].microjoules(), 250'000);
  EXPECT_EQ(parts[1].microjoules(), 0);
  EXPECT_EQ(parts[4].microjoules(), 125'000);
  EXPECT_EQ(parts[6].microjoules(), 0);
}

RC_GTEST_PROP(Distribute, SumIsExactAndEveryPartWithinOneMicrojouleOfItsShare, ()) {
  const auto total = *rc::gen::inRange<int64_t>(0, int64_t{1} << 50);
  const auto weights = *rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, 1'000'000'000'000));
  Energy rest;
  const auto parts = Split(total, weights, &rest);
  int64_t sum = rest.microjoules();
  for (const Energy part : parts) sum += part.microjoules();
  RC_ASSERT(sum == total);
  const long double all = std::accumulate(weights.begin(), weights.end(), 0.0L);
  for (size_t i = 0; i < parts.size(); ++i) {
    RC_ASSERT(parts[i].microjoules() >= 0);
    if (weights[i] == 0) RC_ASSERT(parts[i] == Energy{});
    if (all > 0) {
      const long double share = static_cast<long double>(total) * static_cast<long double>(weights[i]) / all;
      RC_ASSERT(static_cast<long double>(parts[i].microjoules()) > share - 1.001L);
      RC_ASSERT(static_cast<long double>(parts[i].microjoules()) < share + 1.001L);
    }
  }
}

}  // namespace
}  // namespace kepler::attribution
