// The agent's estimates through a tick: whatever a machine does, its zones add up and stay in order.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/kepler/wiring.h"
#include "pipeline/node_test_util.h"

namespace kepler::agent {
namespace {

using std::chrono::milliseconds;

/// A machine without a meter, or with one of its processors.
struct Machine : pipeline::TestNode {
  Machine(std::vector<Meter> preferred, bool guest) {
    proc.Write("cpuinfo", fmt::format("processor\t: 0\nflags\t: fpu{}\n", guest ? " hypervisor" : ""));
    Config config;
    config.host = {.sysfs = sys.root(), .procfs = proc.root()};
    config.preferred_meters = std::move(preferred);
    const Shared shared{.proc_stat = std::make_shared<os::ProcStatReader>(proc.root(), clock)};
    meters = MakeMeters(config, clock, shared).value();
    tick = std::make_unique<pipeline::NodeTick>(pipeline::NodeParts{.activity = activity,
                                                                    .meters = *meters,
                                                                    .resolver = resolver,
                                                                    .board = board,
                                                                    .clock = clock,
                                                                    .procfs = proc.root(),
                                                                    .proc_stat = shared.proc_stat,
                                                                    .events = shared.events},
                                                attribution::RetentionPolicy{});
    for (int i = 0; i < 3; ++i)
      activity.Start(static_cast<activity::Slot>(i), 10 + i, "a", i == 0 ? "/" : pipeline::kBox);
  }
  void Tick() {
    clock.Advance(milliseconds(*rc::gen::inRange(0, 20'000)));
    busy += *rc::gen::inRange<uint64_t>(0, 300);
    idle += *rc::gen::inRange<uint64_t>(0, 300);
    SetStat(busy, idle);
    readable = *rc::gen::inRange(0, 10) > 0;
    if (!readable) proc.Remove("stat");
    for (auto& [slot, process] : activity.processes) process.cpu = milliseconds(*rc::gen::inRange(0, 500));
    tick->Run(0);
  }
  testing::FakeTree sys;
  uint64_t busy = 0;
  uint64_t idle = 0;
  bool readable = true;  // in the latest tick
};

Energy Total(const snapshot::Snapshot& s, std::string_view zone) {
  for (size_t z = 0; z < s.zones.size(); ++z)
    if (s.zones[z].name == zone) return s.node[z].total;
  return {};
}

RC_GTEST_PROP(EstimatedZones, AnyMachine_AddUpAndTheWholeIsNoLessThanItsParts, ()) {
  const bool guest = *rc::gen::arbitrary<bool>();
  const bool metered = *rc::gen::arbitrary<bool>();
  Machine machine(metered ? std::vector{Meter::kFake} : std::vector<Meter>{}, guest);
  std::map<std::string, Energy> before;
  for (int ticks = *rc::gen::inRange(2, 15); ticks > 0; --ticks) {
    machine.Tick();
    const auto s = machine.Latest();
    if (s == nullptr) continue;
    for (const auto& errors : s->conservation_error)
      for (const Energy error : errors) RC_ASSERT(error == Energy{});
    for (size_t z = 0; z < s->zones.size(); ++z) {
      RC_ASSERT(s->node[z].total >= before[s->zones[z].name]);
      before[s->zones[z].name] = s->node[z].total;
      if (guest && !metered) RC_ASSERT(s->node[z].idle == Energy{} || s->zones[z].name == "platform");
    }
    if (machine.readable) RC_ASSERT(Total(*s, "platform") >= Total(*s, "package") + Total(*s, "dram"));
  }
}

}  // namespace
}  // namespace kepler::agent
