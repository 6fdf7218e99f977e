#pragma once
// A node for tests: a scripted activity source and meter behind the real pipeline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "activity/activity_source.h"
#include "cgroup/owner_test_util.h"
#include "energy/meter_set.h"
#include "pipeline/node_tick.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"
#include "workload/pod_directory.h"

namespace kepler::pipeline {

class ScriptedActivity final : public activity::ActivitySource {
 public:
  struct Process {
    cgroup::ProcessInfo info;
    uint32_t version = 1;
    Nanoseconds cpu{0};  // handed out at the next scan, as are the events
    HardwareEvents events{};
  };
  Status Sample(activity::ActivitySample& out) override {
    out.processes.clear();
    out.exited.clear();
    out.short_lived.clear();
    if (while_scanning) while_scanning();
    if (broken) return Fail(ErrorKind::kIo, "open proc: gone");
    for (auto& [slot, process] : processes)
      out.processes.push_back({slot, &process.info, process.version, std::exchange(process.cpu, Nanoseconds(0)),
                               std::exchange(process.events, {})});
    out.exited = std::exchange(exited, {});
    out.short_lived = std::exchange(short_lived, {});
    out.invisible = invisible;
    out.renumbered = std::exchange(renumbered, false);
    out.moved = std::exchange(moved, {});
    if (clock != nullptr) out.taken_at = clock->Now();
    out.residuals.clear();
    for (const auto& [path, cpu] : std::exchange(residuals, {})) out.residuals.push_back({cgroup::CgroupAt(path), cpu});
    return {};
  }
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override {
    if (while_settling) while_settling();
    return living;
  }
  [[nodiscard]] const status::ActivityStatus& status() const override { return current; }

  Process& Start(activity::Slot slot, int32_t pid, std::string comm, std::string cgroup = "/") {
    Process& process = processes[slot];
    process.info.key = {pid, 1};
    process.info.comm = std::move(comm);
    process.info.cgroup = cgroup::MembershipOf(os::CgroupLines{{0, "", std::move(cgroup)}});
    return process;
  }
  void Exit(activity::Slot slot) {
    processes.erase(slot);
    exited.push_back({.slot = slot});
  }

  std::map<activity::Slot, Process> processes;
  std::vector<activity::ExitedSample> exited;
  std::vector<activity::ShortLivedSample> short_lived;
  Nanoseconds invisible{0};
  bool renumbered = false;
  std::vector<activity::MovedProcess> moved;
  const Clock* clock = nullptr;  // of taken_at
  std::vector<std::pair<std::string, Nanoseconds>> residuals;
  std::vector<cgroup::CgroupPtr> living;
  status::ActivityStatus current;
  bool broken = false;
  std::function<void()> while_scanning;
  std::function<void()> while_settling;  // after the figures of the tick were taken
};

/// `cgroups` must outlive the next scan.
inline activity::ShortLivedSample ShortLived(int32_t pid, const cgroup::Membership& cgroups, Nanoseconds cpu) {
  activity::ShortLivedSample short_lived;
  short_lived.key = {pid, 1};
  short_lived.comm = "true";
  short_lived.exe = "/bin/true";
  short_lived.cgroups = &cgroups;
  short_lived.cpu = cpu;
  return short_lived;
}

/// One package counter that the test moves.
class ScriptedMeter final : public energy::EnergySource {
 public:
  ScriptedMeter(uint64_t& counter, const Clock& clock) : counter_(counter), clock_(clock) {}
  [[nodiscard]] std::string_view Name() const override { return "scripted"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] energy::Authority authority() const override { return energy::Authority::kMeasured; }
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

inline std::unique_ptr<energy::MeterSet> OpenMeters(std::vector<std::unique_ptr<energy::EnergySource>> sources,
                                                    const Clock& clock,
                                                    std::unique_ptr<energy::EstimateSource> estimate = nullptr) {
  auto cpu = std::make_unique<energy::MeterSelector>(std::move(sources), std::move(estimate), clock);
  if (!cpu->Open()) std::abort();
  return std::make_unique<energy::MeterSet>(std::move(cpu), clock);
}

/// Of pods that exist.
inline std::shared_ptr<const workload::PodMap> MapOf(std::vector<workload::KnownPod> pods) {
  std::vector<workload::KnownPodPtr> there;
  there.reserve(pods.size());
  for (workload::KnownPod& pod : pods) there.push_back(std::make_shared<const workload::KnownPod>(std::move(pod)));
  return std::make_shared<const workload::PodMap>(std::move(there));
}

class ScriptedDirectory final : public workload::PodDirectory {
 public:
  [[nodiscard]] std::shared_ptr<const workload::PodMap> Latest() const override { return latest; }
  void Miss(std::string_view pod_uid, std::string_view container_id) override {
    missed.emplace(container_id.empty() ? pod_uid : container_id);
  }
  [[nodiscard]] status::PodInformerStatus status() const override { return {.up = answers, .pods = latest->pods()}; }
  std::shared_ptr<const workload::PodMap> latest = std::make_shared<const workload::PodMap>();
  std::set<std::string> missed;
  bool answers = false;
};

/// Everything a NodeTick needs; /proc/stat says that `busy` of the machine's time is used.
struct TestNode {
  explicit TestNode(attribution::RetentionPolicy policy = {}, Nanoseconds since_boot = std::chrono::hours(1),
                    SplitOptions split = {})
      : clock(since_boot), resolver(proc.root(), clock) {
    activity.clock = &clock;
    SetStat(0, 0);
    std::vector<std::unique_ptr<energy::EnergySource>> sources;
    sources.push_back(std::make_unique<ScriptedMeter>(counter, clock));
    meters = OpenMeters(std::move(sources), clock);
    tick = std::make_unique<NodeTick>(NodeParts{activity, *meters, resolver, board, clock, proc.root()}, policy, split);
  }
  /// Before the first tick.
  void UsePods(workload::PodDirectory& pods, SplitOptions split = {}) {
    tick = std::make_unique<NodeTick>(NodeParts{activity, *meters, resolver, board, clock, proc.root(), nullptr, &pods},
                                      attribution::RetentionPolicy{}, split);
  }
  /// Clock ticks of the columns of /proc/stat; one processor.
  struct Stat {
    uint64_t irq = 0;
    uint64_t softirq = 0;
    uint64_t steal = 0;
  };
  void SetStat(uint64_t busy, uint64_t idle) {
    proc.Write("stat", fmt::format("cpu  {} 0 0 {} 0 {} {} {} 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n{}", busy, idle, stat.irq,
                                   stat.softirq, stat.steal, online));
  }
  /// One second in which the package uses `joules` and half of the machine's time is busy.
  void Second(uint64_t joules) {
    clock.Advance(std::chrono::seconds(1));
    counter += joules * 1'000'000;
    ++seconds;
    SetStat(seconds * 50, seconds * 50);
    tick->Run(0);
  }
  /// The process of `slot` used `cpu` of it.
  void Second(uint64_t joules, activity::Slot slot, Nanoseconds cpu) {
    activity.processes[slot].cpu = cpu;
    Second(joules);
  }
  [[nodiscard]] std::shared_ptr<const snapshot::Snapshot> Latest() const { return board.Latest(); }

  testing::FakeClock clock;
  testing::FakeTree proc;
  uint64_t counter = 5'000'000'000;
  uint64_t seconds = 0;
  Stat stat;
  std::string online;  // lines of /proc/stat of more processors
  ScriptedActivity activity;
  workload::Resolver resolver;
  snapshot::Board board;
  std::unique_ptr<energy::MeterSet> meters;
  std::unique_ptr<NodeTick> tick;
};

/// The real clock: the timers are the kernel's. Nothing sleeps; Fresh() waits for the tick that it asks for.
struct LiveNode : TestNode {
  LiveNode() {
    std::vector<std::unique_ptr<energy::EnergySource>> sources;
    sources.push_back(std::make_unique<ScriptedMeter>(counter, system_clock));
    meters = OpenMeters(std::move(sources), system_clock);
    tick = std::make_unique<NodeTick>(NodeParts{activity, *meters, resolver, board, system_clock, proc.root()},
                                      attribution::RetentionPolicy{});
  }
  SystemClock system_clock;
};

inline const std::string kBox = "/docker/" + std::string(64, 'a');
inline const std::string kOther = "/docker/" + std::string(64, 'b');

inline std::vector<cgroup::CgroupPtr> Cgroups(const std::vector<std::string>& paths) {
  std::vector<cgroup::CgroupPtr> cgroups;
  cgroups.reserve(paths.size());
  for (const std::string& path : paths) cgroups.push_back(cgroup::CgroupAt(path));
  return cgroups;
}

inline int64_t Joules(Energy energy) { return energy.microjoules() / 1'000'000; }

inline int64_t Unlisted0(const snapshot::Snapshot& s, snapshot::Level level, snapshot::Unlisted reason) {
  return Joules(s.unlisted[std::to_underlying(level)][std::to_underlying(reason)][0]);
}

inline void ExpectConserved(const snapshot::Snapshot& s) {
  for (const auto& errors : s.conservation_error)
    for (const Energy error : errors) EXPECT_EQ(error, Energy{});
}

}  // namespace kepler::pipeline
