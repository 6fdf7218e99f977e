// That an estimate takes no memory from tick to tick, whatever it is made by: a program of its own, for it counts what
// is allocated.
#include "testing/allocations.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "energy/modeled/model_test_util.h"

namespace kepler::energy::modeled {
namespace {

using namespace std::chrono_literals;
using model::Component;

class Allocations : public ModelledMachine {
 protected:
  /// In ticks after the first ones, of a busy machine, by a source of what `measures` says.
  uint64_t InTicks(status::Domain measures) {
    ModelSource source(options_, measures, clock_);
    const auto zones = source.Discover();
    EXPECT_TRUE(zones);
    std::vector<DomainReading> readings;
    uint64_t counted = 0;
    for (int tick = 1; tick <= 20; ++tick) {
      Stat(100 * tick, 50 * tick, 2);
      clock_.Advance(5s);
      events_->at = clock_.Now();
      events_->counted = true;
      events_->total.cycles += 1'000'000'000;
      const uint64_t before = testing::allocations;
      source.UseAtLeast({});
      source.Read(readings);
      EXPECT_FALSE(source.HasChanged());
      if (tick > 3) counted += testing::allocations - before;
    }
    EXPECT_EQ(readings.size(), zones->size());
    EXPECT_EQ(source.estimate().models->front().name, name_);
    EXPECT_GE(source.estimate().predictions, 17u);
    return counted;
  }
  void ExpectNone() {
    EXPECT_EQ(InTicks(status::Domain::kCpu), 0u);
    EXPECT_EQ(InTicks(status::Domain::kPlatform), 0u);
  }
  /// Uses a model of package and platform.
  void Train(std::string name, const auto& formula) {
    name_ = name;
    auto known = Line(std::move(name), "cpu_cycles", {{Component::kPackage, {}}, {Component::kPlatform, {}}});
    for (auto& component : known.model.components) component.predictor.formula = formula;
    ASSERT_TRUE(model::Check(known.model));
    Set({std::move(known)});
  }
  std::string name_ = Shipped().name;
};

TEST_F(Allocations, AreCounted) {
  const uint64_t before = testing::allocations;
  delete new int;
  EXPECT_EQ(testing::allocations, before + 1);
}

TEST_F(Allocations, ShippedModel_None) { ExpectNone(); }

TEST_F(Allocations, Linear_None) {
  Train("line", model::Linear{.bias = 20, .weights = {1e-8}});
  ExpectNone();
}

TEST_F(Allocations, Trees_None) {
  model::Trees trees;
  trees.base = 30;
  for (uint32_t root = 0; root < 300; root += 3) {
    trees.roots.push_back(root);
    trees.nodes.push_back({.value = 1e6F * static_cast<float>(root), .left = root + 1, .right = root + 2});
    trees.nodes.push_back({.value = 0.1F});
    trees.nodes.push_back({.value = 0.2F});
  }
  Train("trees", trees);
  ExpectNone();
}

}  // namespace
}  // namespace kepler::energy::modeled
