// What a prediction of one row of a node costs, by kind of model, and that it allocates nothing.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <vector>

#include "model/power_model.h"

namespace {
std::atomic<uint64_t> allocations = 0;
}  // namespace

// Everything that C++ allocates comes through here: the other forms of new call these. Inlined in part, they look to
// g++ 12 like a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }

namespace kepler::model {
namespace {

constexpr size_t kFeatures = 6;   // those of CounterIRQCombined
constexpr size_t kRows = 2202;    // as many as data/nx12.csv has
constexpr double kMaxRate = 1e9;  // events per second
constexpr double kWatts = 300;

/// The same at each run. A value from 0 to `most`.
double Next(double most) {
  static std::mt19937_64 random(1);
  return std::uniform_real_distribution<double>(0, most)(random);
}

std::vector<double> Values(size_t count, double most) {
  std::vector<double> values(count);
  for (double& value : values) value = Next(most);
  return values;
}

Predictor MakeLinear() {
  return {.limits = {},
          .scale = std::vector<double>(kFeatures, kMaxRate),
          .formula = Linear{.bias = 40, .weights = Values(kFeatures, 50)}};
}

Predictor MakePolynomial() {
  return {.limits = std::vector<Range>(kFeatures, {0, kMaxRate}),
          .scale = std::vector<double>(kFeatures, kMaxRate),
          .formula = Polynomial{
              .bias = 40, .weights = Values(kFeatures, 50), .products = Values(kFeatures * (kFeatures + 1) / 2, 5)}};
}

/// Full trees with thresholds at random: no branch is foreseen, and none ends early.
Predictor MakeTrees(size_t count, size_t depth) {
  Trees trees{.base = 100, .roots = {}, .nodes = {}};
  const size_t inner = (size_t{1} << depth) - 1;
  for (size_t tree = 0; tree < count; ++tree) {
    const size_t root = trees.nodes.size();
    trees.roots.push_back(static_cast<uint32_t>(root));
    for (size_t i = 0; i < inner; ++i)
      trees.nodes.push_back({.value = static_cast<float>(Next(kMaxRate)),
                             .left = static_cast<uint32_t>(root + 2 * i + 1),
                             .right = static_cast<uint32_t>(root + 2 * i + 2),
                             .feature = static_cast<uint16_t>(Next(kFeatures - 0.001))});
    for (size_t i = 0; i <= inner; ++i) trees.nodes.push_back({.value = static_cast<float>(Next(1))});
  }
  return {.limits = {}, .scale = {}, .formula = std::move(trees)};
}

Predictor MakeNeighbors(uint32_t k) {
  return {.limits = {},
          .scale = std::vector<double>(kFeatures, kMaxRate),
          .formula = Neighbors{.k = k, .points = Values(kRows * kFeatures, 1), .labels = Values(kRows, kWatts)}};
}

/// As much as there can be in a blend of auto: all its candidates.
Predictor MakeBlend() {
  Blend blend;
  blend.parts = {MakeLinear(),      MakeTrees(100, 4), MakeTrees(200, 3), MakeTrees(60, 3),
                 MakeTrees(100, 3), MakePolynomial(),  MakeNeighbors(12), MakeLinear()};
  blend.weights.assign(blend.parts.size(), 1 / static_cast<double>(blend.parts.size()));
  return {.limits = {}, .scale = {}, .formula = std::move(blend)};
}

/// One component, as the agent asks for it: with limits, order and the training domain.
void EstimateNodeRow(benchmark::State& state, const std::function<Predictor()>& make) {
  PowerModel model;
  for (size_t i = 0; i < kFeatures; ++i) model.features.push_back("feature_" + std::to_string(i));
  model.domain.assign(kFeatures, {0, kMaxRate});
  model.components.push_back(
      {.component = Component::kPackage, .trainer = {}, .predictor = make(), .label = {0, kWatts}, .accuracy = {}});
  if (const auto status = Check(model); !status) return state.SkipWithError(status.error().message.c_str());
  const auto rows = Values(kRows * kFeatures, kMaxRate);
  size_t row = 0;
  const uint64_t before = allocations;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(EstimateRow(model, {rows.data() + row * kFeatures, kFeatures}, 1));
    row = (row + 1) % kRows;
  }
  state.counters["allocations"] = static_cast<double>(allocations - before);
}
BENCHMARK_CAPTURE(EstimateNodeRow, linear, MakeLinear);
BENCHMARK_CAPTURE(EstimateNodeRow, polynomial, MakePolynomial);
BENCHMARK_CAPTURE(EstimateNodeRow, 100_trees_of_depth_6, [] { return MakeTrees(100, 6); });
BENCHMARK_CAPTURE(EstimateNodeRow, neighbors_of_2202_rows, [] { return MakeNeighbors(6); });
BENCHMARK_CAPTURE(EstimateNodeRow, blend_of_all_candidates_of_auto, MakeBlend);

}  // namespace
}  // namespace kepler::model
