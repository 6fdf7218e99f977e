// The agent's estimates through a tick: whatever a machine does, its zones add up and stay in order.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "apps/kepler/wiring.h"
#include "pipeline/node_test_util.h"

namespace kepler::agent {
namespace {

using std::chrono::milliseconds;

using model::Component;

/// A model of some of the zones, of either output, as somebody named it; now and then one that nobody can be held to.
model::KnownModel AnyModel() {
  model::KnownModel known;
  known.model.name = *rc::gen::element<std::string>("a", "b", "c");
  known.model.features = {"bpf_cpu_time_ms"};
  known.model.output = *rc::gen::element(model::OutputType::kAbsPower, model::OutputType::kDynPower);
  known.chosen = true;
  for (const Component part :
       {Component::kPackage, Component::kCore, Component::kUncore, Component::kDram, Component::kPlatform}) {
    if (*rc::gen::inRange(0, 3) == 0) continue;
    known.model.components.emplace_back().component = part;
    known.model.components.back().label = {0, 500};
    known.model.components.back().predictor.formula =
        model::Linear{.bias = 1.0 * *rc::gen::inRange(0, 200), .weights = {0.01 * *rc::gen::inRange(-5, 20)}};
  }
  return known;
}

/// A machine without a meter, or with RAPL counters of package and dram.
struct Machine : pipeline::TestNode {
  Machine(bool has_meter, bool guest) : metered(has_meter) {
    proc.Write("cpuinfo", fmt::format("processor\t: 0\nflags\t: fpu{}\n", guest ? " hypervisor" : ""));
    Config config;
    config.host = {.sysfs = sys.root(), .procfs = proc.root()};
    config.preferred_meters = {};
    if (metered) {
      config.preferred_meters = {Meter::kRapl};
      sys.Write(kPackage + "name", "package-0");
      sys.Write(kDram + "name", "dram");
      for (const std::string& base : {kPackage, kDram}) sys.Write(base + "max_energy_range_uj", "262143328850");
      Count();
    }
    const Shared shared{.proc_stat = std::make_shared<os::ProcStatReader>(proc.root(), clock), .models = models};
    meters = MakeMeters(config, clock, shared).value();
    using pipeline::CpuWeights;
    tick = std::make_unique<pipeline::NodeTick>(
        pipeline::NodeParts{.activity = activity,
                            .meters = *meters,
                            .resolver = resolver,
                            .board = board,
                            .clock = clock,
                            .procfs = proc.root(),
                            .proc_stat = shared.proc_stat,
                            .events = shared.events,
                            .models = {.board = models}},
        attribution::RetentionPolicy{},
        pipeline::SplitOptions{.weights = *rc::gen::element(CpuWeights::kTime, CpuWeights::kModel)});
    for (int i = 0; i < 3; ++i)
      activity.Start(static_cast<activity::Slot>(i), 10 + i, "a", i == 0 ? "/" : pipeline::kBox);
  }
  void Count() {
    sys.Write(kPackage + "energy_uj", package_readable ? std::to_string(package_uj) : "?");
    sys.Write(kDram + "energy_uj", std::to_string(dram_uj));
  }
  void Tick() {
    // Above five minutes the machine may have slept.
    const int ms =
        *rc::gen::inRange(0, 20) == 0 ? *rc::gen::inRange(300'001, 20'000'000) : *rc::gen::inRange(1, 20'000);
    clock.Advance(milliseconds(ms));
    busy += *rc::gen::inRange<uint64_t>(0, 300);
    idle += *rc::gen::inRange<uint64_t>(1, 300);
    SetStat(busy, idle);
    stat_readable = *rc::gen::inRange(0, 10) > 0;
    if (!stat_readable) proc.Remove("stat");
    begun = begun || stat_readable;
    package_readable = *rc::gen::inRange(0, 4) > 0;
    package_uj += *rc::gen::inRange<uint64_t>(0, 400'000) * std::min<uint64_t>(static_cast<uint64_t>(ms), 20'000);
    dram_uj += *rc::gen::inRange<uint64_t>(0, 40'000) * std::min<uint64_t>(static_cast<uint64_t>(ms), 20'000);
    if (metered) Count();
    if (*rc::gen::inRange(0, 4) == 0) Swap();
    for (auto& [slot, process] : activity.processes) process.cpu = milliseconds(*rc::gen::inRange(0, 500));
    tick->Run(0);
  }
  void Swap() {
    model::ModelSet next;
    for (int n = *rc::gen::inRange(0, 3); n > 0; --n)
      next.push_back(std::make_shared<const model::KnownModel>(AnyModel()));
    models->Set(std::make_shared<const model::ModelSet>(std::move(next)));
  }
  static inline const std::string kPackage = "class/powercap/intel-rapl:0/";
  static inline const std::string kDram = "class/powercap/intel-rapl:0:0/";
  const bool metered;
  testing::FakeTree sys;
  std::shared_ptr<model::ModelBoard> models = std::make_shared<model::ModelBoard>();
  uint64_t busy = 0;
  uint64_t idle = 0;
  uint64_t package_uj = 0;
  uint64_t dram_uj = 0;
  bool stat_readable = true;  // in the latest tick
  bool package_readable = true;
  bool begun = false;  // stat was read once
};

/// What one tick says of the zones by name.
struct Totals {
  std::map<std::string, snapshot::NodeZone> zones;
  std::set<std::string> of_load;
  [[nodiscard]] Energy of(const std::string& zone) const {
    const auto found = zones.find(zone);
    return found == zones.end() ? Energy() : found->second.total;
  }
  [[nodiscard]] Energy parts() const { return of("package") + of("dram"); }
  /// What load adds to the whole is not held to a part's idle power.
  [[nodiscard]] bool comparable() const {
    return zones.contains("platform") &&
           (!of_load.contains("platform") || (of_load.contains("package") && of_load.contains("dram")));
  }
};

Totals TotalsOf(const snapshot::Snapshot& s) {
  Totals totals;
  for (size_t z = 0; z < s.zones.size(); ++z) totals.zones[s.zones[z].name] = s.node[z];
  for (const auto& estimate : s.estimates)
    for (const auto& used : *estimate.models)
      if (used.only_load && !estimate.of_workloads) totals.of_load.insert(used.zone);
  return totals;
}

RC_GTEST_PROP(EstimatedZones, AnyMachine_AddUpAndTheWholeIsNoLessThanItsParts, ()) {
  const bool guest = *rc::gen::arbitrary<bool>();
  const bool metered = *rc::gen::arbitrary<bool>();
  Machine machine(metered, guest);
  if (*rc::gen::arbitrary<bool>()) machine.Swap();
  Totals before;
  Totals start;  // since when whole and parts can be compared
  bool good_before = false;
  bool known = false;  // it has counted
  for (int ticks = *rc::gen::inRange(2, 30); ticks > 0; --ticks) {
    const bool begun = machine.begun;
    machine.Tick();
    const auto s = machine.Latest();
    if (s == nullptr) continue;
    for (const auto& errors : s->conservation_error)
      for (const Energy error : errors) RC_ASSERT(error == Energy{});
    const Totals now = TotalsOf(*s);
    for (const auto& [name, zone] : now.zones) {
      RC_ASSERT(zone.total >= before.of(name));
      if (now.of_load.contains(name) && name != "platform") RC_ASSERT(zone.idle == before.zones[name].idle);
    }
    const bool good = machine.stat_readable && (!metered || machine.package_readable);
    known = known || (now.zones.contains("platform") && now.zones.at("platform").fresh);
    if (!known || !now.comparable())
      start = now;
    else if (begun && machine.stat_readable)
      RC_ASSERT(now.of("platform") - start.of("platform") >= now.parts() - start.parts());
    if (known && good && good_before && now.comparable() && before.comparable())
      RC_ASSERT(now.of("platform") - before.of("platform") >= now.parts() - before.parts());
    before = now;
    good_before = good;
  }
}

}  // namespace
}  // namespace kepler::agent
