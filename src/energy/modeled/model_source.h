#pragma once
// An estimate in place of a meter: the shipped power model (model/cpu_power.h) fed with <procfs>/stat. One zone
// "package" with the path "model", so that nobody takes it for a measurement.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "energy/energy_source.h"
#include "model/cpu_power.h"
#include "os/proc_stat.h"

namespace kepler::energy::modeled {

/// Answers as a counter that starts at 0 µJ, not as a power sensor, so that its energy is exact for the CPU time of
/// every interval, whenever it is read: it grows by
///     idle_watts × logical CPUs × elapsed  +  (full_watts − idle_watts) × busy CPU seconds
/// Busy: user, nice, system, irq and softirq; not steal, which is other guests' time. Of a gap above five minutes (the
/// machine may have been suspended) only the CPU time that the kernel counted is taken as elapsed.
class ModelSource final : public EnergySource {
 public:
  ModelSource(std::string procfs, std::shared_ptr<os::ProcStatReader> proc_stat);

  [[nodiscard]] std::string_view Name() const override { return "model"; }
  [[nodiscard]] bool IsEstimate() const override { return true; }
  /// Fails only if <procfs>/stat cannot be read. An unknown processor gets the general average; the note says which row
  /// of the table is used.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  void Read(std::vector<DomainReading>& out) override;
  /// By the CPUs that the last Read() saw online.
  void UpdateMaxPower(size_t index, Domain& domain) override;

 private:
  void Integrate(const os::ProcStat& now);
  [[nodiscard]] Power MaxPower(const os::ProcStatCpu& cpu) const;

  std::string procfs_;
  std::shared_ptr<os::ProcStatReader> proc_stat_;
  model::CpuPower row_;
  std::optional<os::ProcStat> last_;
  uint64_t microjoules_ = 0;
  double carry_uj_ = 0;  // the part of a microjoule not yet in microjoules_, in [0, 1)
};

}  // namespace kepler::energy::modeled
