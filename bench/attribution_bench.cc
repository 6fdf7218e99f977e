// What attribution costs per tick: N processes × 4 zones.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "attribution/counter_weights.h"
#include "attribution/distribute.h"
#include "attribution/ledger.h"
#include "attribution/model_weights.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {
namespace {

constexpr size_t kZones = 4;

/// Nanoseconds of one tick: few processes are busy, the others twitch.
uint64_t Weight(int64_t i) { return static_cast<uint64_t>(i % 20 == 0 ? 50'000'000 + i * 1'000 : 1 + i * 7); }

void DistributeOneZone(benchmark::State& state) {
  std::vector<uint64_t> weights;
  weights.reserve(static_cast<size_t>(state.range(0)));
  for (int64_t i = 0; i < state.range(0); ++i) weights.push_back(Weight(i));
  std::vector<Energy> out(weights.size());
  Distributor distributor;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(distributor.Distribute(Energy::Joules(500), weights, out));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(DistributeOneZone)->Arg(200)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

/// What `weights` says of a package, every user having counted events.
template <class MakeWeights>
void WeighPackage(benchmark::State& state, const MakeWeights& make) {
  UsageList usage;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const uint64_t time = Weight(i);
    usage.Add({Usage::Payer::kProcess, 0, {}}, Nanoseconds(static_cast<int64_t>(time)),
              {time * 3, time * 2, time / 100});
  }
  const SystemClock clock;
  const std::unique_ptr<Weights> weights = make(usage, clock);
  const std::vector<status::Zone> zones = {{"package", "package", "bench"}};
  weights->SetZones(zones);
  for ([[maybe_unused]] auto _ : state) {
    weights->BeginTick();
    benchmark::DoNotOptimize(weights->Of(0, Energy::Joules(500), true));
  }
}

void WeighByCounters(benchmark::State& state) {
  WeighPackage(state, [](const UsageList& usage, const Clock&) { return std::make_unique<CounterWeights>(usage); });
}
BENCHMARK(WeighByCounters)->Arg(200)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void WeighByModel(benchmark::State& state) {
  auto line = std::make_shared<model::PowerModel>();
  line->features = {"cache_miss", "cpu_cycles", "cpu_instructions"};
  line->components.emplace_back().predictor.formula = model::Linear{.bias = 30, .weights = {1e-6, 1e-8, 1e-8}};
  WeighPackage(state, [&](const UsageList& usage, const Clock& clock) {
    auto weights = std::make_unique<ModelWeights>(usage, clock);
    weights->SetInterval(std::chrono::seconds(5));
    weights->SetModel(model::Component::kPackage, line, 0, {});
    return weights;
  });
}
BENCHMARK(WeighByModel)->Arg(200)->Arg(10'000)->Unit(benchmark::kMicrosecond);

/// A ledger of `processes` running processes, ten to a container, ten of those to a pod.
class Node {
 public:
  explicit Node(int64_t processes) : ledger_(RetentionPolicy{}) {
    std::vector<status::Zone> zones;
    for (const char* name : {"package", "core", "dram", "psys"}) zones.push_back({name, name, "bench"});
    ledger_.SetZones(std::move(zones), 0);
    Begin();
    for (int64_t i = 0; i < processes; ++i) {
      Groups groups;
      groups.pod = ledger_.Pod({fmt::format("pod-{}", i / 100), "", ""});
      groups.container = ledger_.Container({fmt::format("{:064x}", i / 10), "", "containerd", ""}, groups.pod);
      snapshot::ProcessIdentity identity;
      identity.pid = static_cast<int32_t>(i + 1);
      identity.comm = "worker";
      identity.type = "container";
      rows_.push_back(ledger_.OpenProcess(std::make_shared<const snapshot::ProcessIdentity>(identity), groups));
    }
    Settle();
  }

  void Begin() { ledger_.BeginTick(now_ += std::chrono::seconds(5)); }
  void Settle() {
    for (size_t i = 0; i < rows_.size(); ++i)
      ledger_.UseProcess(rows_[i], Nanoseconds(static_cast<int64_t>(Weight(static_cast<int64_t>(i)))));
    const std::vector<ZoneCharge> zones(
        kZones, SplitByRatio(Energy::Joules(500), Power::Watts(100), true, Ratio::Clamped(0.4), weights_));
    ledger_.Settle(zones, Scan::kDone);
  }
  void Publish(snapshot::Snapshot& out) { ledger_.Publish(out); }

 private:
  Ledger ledger_;
  CpuTimeWeights weights_{ledger_.cpu_usage()};
  BootTime now_{};
  std::vector<Row> rows_;
};

void SettleTick(benchmark::State& state) {
  Node node(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    node.Begin();
    node.Settle();
  }
}
BENCHMARK(SettleTick)->Arg(200)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void PublishSnapshot(benchmark::State& state) {
  Node node(state.range(0));
  snapshot::Snapshot out;
  for ([[maybe_unused]] auto _ : state) {
    node.Publish(out);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(PublishSnapshot)->Arg(200)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kepler::attribution
