#include "energy/modeled/model_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "os/cpu_topology.h"

namespace kepler::energy::modeled {
namespace {

constexpr Nanoseconds kLongestTrustedGap = std::chrono::minutes(5);

uint64_t Busy(const os::ProcStatCpu& cpu) { return cpu.user + cpu.nice + cpu.system + cpu.irq + cpu.softirq; }
uint64_t Counted(const os::ProcStatCpu& cpu) { return Busy(cpu) + cpu.idle + cpu.iowait + cpu.steal; }

/// Ticks never count backwards here, though the kernel's idle and iowait may.
double Seconds(uint64_t before, uint64_t now) {
  const uint64_t ticks = now > before ? now - before : 0;
  return static_cast<double>(ticks) * std::chrono::duration<double>(os::ClockTick()).count();
}

}  // namespace

ModelSource::ModelSource(std::string procfs, std::shared_ptr<os::ProcStatReader> proc_stat)
    : procfs_(std::move(procfs)), proc_stat_(std::move(proc_stat)), row_(model::GeneralAverage()) {}

Result<std::vector<Domain>> ModelSource::Discover() {
  const auto& stat = proc_stat_->Read();
  if (!stat)
    return Fail(stat.error().kind, stat.error().message + "; without CPU times the model has nothing to estimate from");
  const auto cpus = os::ReadCpuInfo(procfs_);
  row_ = cpus ? model::PowerOf(cpus->front()) : model::GeneralAverage();
  Domain domain{"package", "model", "package", {}, {}, {}};
  domain.max_power = MaxPower(stat->cpu);
  domain.note = fmt::format(
      "estimated, not measured: {} ({} W idle, {} W busy per logical CPU), give or take {:.0f} % under load "
      "and {:.0f} % at idle",
      row_.name, row_.idle_watts, row_.full_watts, model::kStatedErrorAtFullLoad * 100,
      model::kStatedErrorAtIdle * 100);
  return std::vector<Domain>{std::move(domain)};
}

void ModelSource::Read(std::vector<DomainReading>& out) {
  out.resize(1);
  const auto& stat = proc_stat_->Read();
  if (!stat) {
    out[0].value = stat.error();
    return;
  }
  out[0].at = stat->at;
  Integrate(*stat);
  out[0].value = RawCounter{microjoules_};
}

void ModelSource::UpdateMaxPower(size_t /*index*/, Domain& domain) {
  if (last_) domain.max_power = MaxPower(last_->cpu);
}

Power ModelSource::MaxPower(const os::ProcStatCpu& cpu) const {
  return model::EstimatePower(row_, std::max(cpu.cpus, 1u), Ratio::Clamped(1));
}

void ModelSource::Integrate(const os::ProcStat& now) {
  const auto last = std::exchange(last_, now);
  if (!last) return;
  const Nanoseconds elapsed = std::max(now.at - last->at, Nanoseconds::zero());
  const double cpus = std::max(now.cpu.cpus, 1u);
  double powered_seconds = cpus * std::chrono::duration<double>(elapsed).count();
  if (elapsed > kLongestTrustedGap)
    powered_seconds = std::min(powered_seconds, Seconds(Counted(last->cpu), Counted(now.cpu)));
  const double busy_seconds = Seconds(Busy(last->cpu), Busy(now.cpu));
  const double joules = row_.idle_watts * powered_seconds + (row_.full_watts - row_.idle_watts) * busy_seconds;
  const double exact_uj = joules * 1e6 + carry_uj_;
  const double whole_uj = std::floor(exact_uj);
  carry_uj_ = exact_uj - whole_uj;
  microjoules_ += static_cast<uint64_t>(whole_uj);
}

}  // namespace kepler::energy::modeled
