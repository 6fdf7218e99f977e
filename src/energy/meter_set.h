#pragma once
// MeterSet: all meters of the machine at once. One of them is the CPU meter, by MeterSelector's rule; the others (a
// device, the machine's power supply, an estimate of what is not metered) are read beside it, each with zones of its
// own. Collection thread only.
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "energy/estimate_source.h"
#include "energy/meter.h"
#include "energy/meter_selector.h"

namespace kepler::energy {

/// The zone that stands for the machine when workloads are ranked: psys, package, socket, cpu, core, dram, uncore, then
/// the usual names of hwmon sensors, else the first. Names are compared without case. 0 for no zones.
[[nodiscard]] size_t SelectPrimaryZone(std::span<const snapshot::Zone> zones);

class MeterSet {
 public:
  /// `cpu`: opened.
  MeterSet(std::unique_ptr<MeterSelector> cpu, const Clock& clock);
  /// One more, which must not block: one that may stands behind a PolledSource, whose thread runs. It is opened as soon
  /// as it answers. kInvalid if there is one of that name that measures: their zones could not be told apart; or if it
  /// measures the processors: it would be counted beside the CPU meter.
  [[nodiscard]] Status Add(std::unique_ptr<EnergySource> source);
  /// An estimate of what is not metered. Estimates may share a name. kInvalid if it is of the processors.
  /// `beside`: it is opened only once the CPU meter is one of which this is true (it may be replaced), and stays then.
  [[nodiscard]] Status AddEstimate(
      std::unique_ptr<EstimateSource> source,
      std::function<bool(const Meter& cpu)> beside = [](const Meter&) { return true; });

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
    std::function<bool(const Meter&)> beside;
    bool open = false;
    bool tried = false;
  };
  [[nodiscard]] Status Insert(Other other);
  void TryOpen(Other& other);
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
