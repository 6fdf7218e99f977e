#include "energy/simulated/simulated_source.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"

namespace kepler::energy::simulated {
namespace {

/// Returns mW × time in whole µJ. No time in int64 nanoseconds causes an overflow.
uint64_t Microjoules(int64_t milliwatts, Nanoseconds time) {
  constexpr int64_t kPerSecond = 1'000'000'000;
  const int64_t ns = std::max<int64_t>(time.count(), 0);
  const int64_t whole = ns / kPerSecond * milliwatts * 1'000;
  const int64_t rest = ns % kPerSecond * milliwatts / 1'000'000;
  return static_cast<uint64_t>(whole + rest);
}

Power MaxPower(std::string_view zone, uint32_t cpus) {
  const Physics physics = PhysicsOf(zone);
  const auto milliwatts = physics.idle_milliwatts + physics.busy_milliwatts * std::max<int64_t>(cpus, 1);
  return Power::Microwatts(static_cast<double>(milliwatts) * 1e3);
}

}  // namespace

Physics PhysicsOf(std::string_view zone) {
  if (zone == "package") return {20'000, 15'000};
  if (zone == "core") return {0, 9'000};
  if (zone == "uncore") return {6'000, 3'000};
  if (zone == "dram") return {3'000, 1'000};
  if (zone == "psys") return {40'000, 20'000};
  return {10'000, 5'000};
}

RawCounter CounterAt(std::string_view zone, Nanoseconds since_boot, Nanoseconds busy) {
  const Physics physics = PhysicsOf(zone);
  const uint64_t total = Microjoules(physics.idle_milliwatts, since_boot) + Microjoules(physics.busy_milliwatts, busy);
  return {total % (kRange + 1)};
}

Nanoseconds BusyTime(const os::ProcStatCpu& cpu) {
  const uint64_t ticks = cpu.user + cpu.nice + cpu.system + cpu.irq + cpu.softirq;
  return static_cast<int64_t>(ticks) * os::ClockTick();
}

SimulatedSource::SimulatedSource(std::string sysfs, std::shared_ptr<os::ProcStatReader> proc_stat,
                                 const std::vector<std::string>& zones)
    : sysfs_(std::move(sysfs)), proc_stat_(std::move(proc_stat)) {
  for (const std::string& zone : zones) {
    const std::string name(Trim(zone));
    if (!name.empty() && std::ranges::find(zones_, name) == zones_.end()) zones_.push_back(name);
  }
  if (zones_.empty()) zones_ = {"package", "core", "dram"};
}

Result<std::vector<Domain>> SimulatedSource::Discover() {
  const auto& stat = proc_stat_->Read();
  if (!stat)
    return Fail(stat.error().kind,
                stat.error().message + "; the fake meter derives its watts from the CPU times there");
  std::vector<Domain> domains;
  domains.reserve(zones_.size());
  for (const std::string& zone : zones_) {
    domains.push_back({zone, sysfs_ + "/class/powercap/intel-rapl/energy_" + zone, zone, kRange,
                       MaxPower(zone, stat->cpu.cpus), "simulated, not measured"});
  }
  return domains;
}

void SimulatedSource::Read(std::vector<DomainReading>& out) {
  out.resize(zones_.size());
  const auto& stat = proc_stat_->Read();
  if (stat) cpus_ = stat->cpu.cpus;
  for (size_t i = 0; i < zones_.size(); ++i) {
    if (!stat) {
      out[i].value = stat.error();
      continue;
    }
    out[i].at = stat->at;
    out[i].value = CounterAt(zones_[i], stat->at.time_since_epoch(), BusyTime(stat->cpu));
  }
}

void SimulatedSource::UpdateMaxPower(size_t index, Domain& domain) {
  domain.max_power = MaxPower(zones_[index], cpus_);
}

}  // namespace kepler::energy::simulated
