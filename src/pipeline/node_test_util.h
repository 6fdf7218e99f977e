#pragma once
// A node for tests: a scripted activity source and meter behind the real pipeline.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "activity/activity_source.h"
#include "energy/meter_selector.h"
#include "pipeline/node_tick.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::pipeline {

class ScriptedActivity final : public activity::ActivitySource {
 public:
  struct Process {
    os::ProcessInfo info;
    uint32_t version = 1;
    Nanoseconds cpu{0};  // handed out at the next look
  };
  [[nodiscard]] std::string_view Name() const override { return "scripted"; }
  Status Sample(activity::ActivitySample& out) override {
    out.processes.clear();
    out.exited.clear();
    out.residuals.clear();
    if (broken) return Fail(ErrorKind::kIo, "open proc: gone");
    for (auto& [slot, process] : processes)
      out.processes.push_back({slot, &process.info, process.version, std::exchange(process.cpu, Nanoseconds(0))});
    out.exited = std::exchange(exited, {});
    for (const auto& [path, cpu] : residuals) out.residuals.push_back({path, 1, cpu});
    kept_ = std::exchange(residuals, {});
    return {};
  }
  [[nodiscard]] std::span<const activity::LivingCgroup> LivingCgroups() const override { return living; }
  [[nodiscard]] const activity::ActivityHealth& Health() const override { return health; }

  Process& Start(activity::Slot slot, int32_t pid, std::string comm, std::string cgroup = "/") {
    Process& process = processes[slot];
    process.info.key = {pid, 1};
    process.info.comm = std::move(comm);
    auto membership = std::make_shared<os::CgroupMembership>();
    membership->lines.push_back({0, "", std::move(cgroup)});
    process.info.cgroup = membership;
    return process;
  }
  void Exit(activity::Slot slot) {
    processes.erase(slot);
    exited.push_back({slot, Nanoseconds(0)});
  }

  std::map<activity::Slot, Process> processes;
  std::vector<activity::ExitedSample> exited;
  std::vector<std::pair<std::string, Nanoseconds>> residuals;
  std::vector<activity::LivingCgroup> living;
  activity::ActivityHealth health;
  bool broken = false;

 private:
  std::vector<std::pair<std::string, Nanoseconds>> kept_;
};

/// One package counter that the test moves.
class ScriptedMeter final : public energy::EnergySource {
 public:
  ScriptedMeter(uint64_t& counter, const Clock& clock) : counter_(counter), clock_(clock) {}
  [[nodiscard]] std::string_view Name() const override { return "scripted"; }
  [[nodiscard]] Result<std::vector<energy::Domain>> Discover() override {
    energy::Domain domain;
    domain.zone = "package";
    domain.path = "p";
    domain.key = "package-0";
    return std::vector{domain};
  }
  void Read(std::vector<energy::DomainReading>& out) override { out.assign(1, {clock_.Now(), RawCounter{counter_}}); }

 private:
  uint64_t& counter_;
  const Clock& clock_;
};

/// Everything a NodeTick needs; /proc/stat says that `busy` of the machine's time is used.
struct TestNode {
  explicit TestNode(attribution::RetentionPolicy policy = {}, Nanoseconds since_boot = std::chrono::hours(1))
      : clock(since_boot), resolver(proc.root()) {
    SetStat(0, 0);
    std::vector<std::unique_ptr<energy::EnergySource>> sources;
    sources.push_back(std::make_unique<ScriptedMeter>(counter, clock));
    meters = std::make_unique<energy::MeterSelector>(std::move(sources), clock);
    if (!meters->Open()) std::abort();
    tick = std::make_unique<NodeTick>(NodeParts{activity, *meters, resolver, board, clock, proc.root(),
                                                std::make_shared<const std::vector<snapshot::CpuInfo>>()},
                                      policy);
  }
  void SetStat(uint64_t busy, uint64_t idle) {
    proc.Write("stat", "cpu  " + std::to_string(busy) + " 0 0 " + std::to_string(idle) +
                           " 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n");
  }
  /// One second in which the package uses `joules` and half of the machine's time is busy.
  void Second(uint64_t joules) {
    clock.Advance(std::chrono::seconds(1));
    counter += joules * 1'000'000;
    ++seconds;
    SetStat(seconds * 50, seconds * 50);
    tick->Run(0);
  }
  [[nodiscard]] std::shared_ptr<const snapshot::Snapshot> Latest() const { return board.Latest(); }

  testing::FakeClock clock;
  testing::FakeTree proc;
  uint64_t counter = 5'000'000'000;
  uint64_t seconds = 0;
  ScriptedActivity activity;
  workload::Resolver resolver;
  snapshot::Board board;
  std::unique_ptr<energy::MeterSelector> meters;
  std::unique_ptr<NodeTick> tick;
};

}  // namespace kepler::pipeline
