#pragma once
// MeterSet: all meters of the machine at once. One of them is the CPU meter, by MeterSelector's rule; the others (a
// device, the machine's power supply, an estimate of what is not metered) have zones of their own. UseOf() decides
// which of them are opened. Collection thread only.
#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "energy/estimate_source.h"
#include "energy/meter.h"
#include "energy/meter_choice.h"
#include "energy/meter_selector.h"

namespace kepler::energy {

/// The zone that stands for the machine when workloads are ranked: psys, package, socket, cpu, core, dram, uncore, then
/// the usual names of hwmon sensors, else the first. Names are compared without case. 0 for no zones.
[[nodiscard]] size_t SelectPrimaryZone(std::span<const snapshot::Zone> zones);

class MeterSet {
 public:
  /// `cpu`: opened.
  MeterSet(std::unique_ptr<MeterSelector> cpu, const Clock& clock);
  /// Adds a source, which must not block: a slow one is behind a PolledSource with a running thread. It is opened as
  /// soon as it answers. kInvalid if a meter of that name exists, because their zones could not be told apart, or if
  /// UseOf() refuses it.
  [[nodiscard]] Status Add(std::unique_ptr<EnergySource> source);
  /// Adds an estimate. It is opened as soon as UseOf() allows it with the CPU meter in use, and stays open. Estimates
  /// may share a name. kInvalid if UseOf() refuses it.
  [[nodiscard]] Status AddEstimate(std::unique_ptr<EstimateSource> source);

  /// Samples all; the CPU meter first, since what it says is compared with what ran, and an estimate of the whole
  /// machine must be no less than it.
  void Sample();
  /// The instant before the CPU meter was read.
  [[nodiscard]] BootTime taken_at() const { return cpu_->current().taken_at(); }
  /// The CPU meter's zones, then those of the others. Changes when a zone appears, and where the CPU meter is replaced;
  /// a zone that was charged stays.
  [[nodiscard]] std::span<const snapshot::Zone> zones() const { return zones_; }
  /// What each zone used since the previous sample.
  [[nodiscard]] std::span<const ZoneDelta> deltas() const { return deltas_; }
  /// The zone that stands for the machine when workloads are ranked: one of the CPU meter.
  [[nodiscard]] size_t primary_zone() const;
  /// Of every meter that was opened or failed to open; estimates of one name are one source.
  [[nodiscard]] std::vector<snapshot::SourceStatus> status() const;
  /// Replaces `out` by what says by which models the zones are estimated.
  void ReadEstimates(std::vector<snapshot::EstimateStatus>& out) const;

 private:
  struct Other {
    std::unique_ptr<Meter> meter;
    EstimateSource* estimate = nullptr;  // what the meter reads, if that is an estimate
    bool open = false;
    bool tried = false;
  };
  [[nodiscard]] Status Insert(std::unique_ptr<Meter> meter, EstimateSource* estimate);
  void TryOpen(Other& other);
  [[nodiscard]] Use FindUse(const Other& other) const;
  [[nodiscard]] MeasuredParts PackageAndDram() const;
  void Gather();
  void Append(const Meter& meter);

  std::unique_ptr<MeterSelector> cpu_;
  std::vector<Other> others_;
  const Clock& clock_;
  log::LogLimiter limiter_{std::chrono::hours(1)};
  std::vector<snapshot::Zone> zones_;
  std::vector<ZoneDelta> deltas_;
};

}  // namespace kepler::energy
