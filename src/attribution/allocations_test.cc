// That weights by a model take no memory from tick to tick: a program of its own, for it counts what is allocated.
#include "testing/allocations.h"

#include <gtest/gtest.h>

#include <memory>

#include "attribution/model_weights.h"
#include "testing/fake_clock.h"

namespace kepler::attribution {
namespace {

TEST(Allocations, WeightsByAModel_TakeNone) {
  const testing::FakeClock clock;
  UsageList usage;
  ModelWeights weights(usage, clock);
  weights.SetZones({{{"package", "p", "rapl"}}});
  weights.SetInterval(std::chrono::seconds(5));
  auto line = std::make_shared<model::PowerModel>();
  line->features = {"bpf_cpu_time_ms", "cpu_cycles", "cpu_instructions", "cache_miss"};
  line->domain.assign(4, {0, 1e12});
  line->components.emplace_back().predictor.formula = model::Linear{.bias = 30, .weights = {0.01, 1e-9, 1e-9, 1e-6}};
  weights.SetModel(model::Component::kPackage, line, 0, {});
  for (uint64_t i = 1; i <= 1000; ++i)
    usage.Add({Usage::Payer::kProcess, 0, {}}, Nanoseconds(i * 1'000'000), {i * 1'000'000, i * 10, i});
  uint64_t counted = 0;
  for (int tick = 0; tick < 10; ++tick) {
    const uint64_t before = testing::allocations;
    weights.BeginTick();
    EXPECT_EQ(weights.Of(0, Energy::Joules(10), true).size(), 1000u);
    if (tick > 0) counted += testing::allocations - before;
  }
  EXPECT_EQ(weights.method(0), snapshot::Method::kModel);
  EXPECT_EQ(counted, 0u);
  EXPECT_GT(testing::allocations, 0u);
}

}  // namespace
}  // namespace kepler::attribution
