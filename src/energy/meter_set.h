#pragma once
// MeterSet: all meters of the machine at once. One of them is the CPU meter, by MeterSelector's rule; the others (a
// device, the machine's power supply) are read beside it, each with zones of its own. Collection thread only.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "energy/meter.h"
#include "energy/meter_selector.h"
#include "energy/polled_source.h"

namespace kepler::energy {

class MeterSet {
 public:
  /// `cpu`: opened.
  explicit MeterSet(std::unique_ptr<MeterSelector> cpu);
  /// One more, whose thread runs. It is opened as soon as it answers.
  void Add(std::unique_ptr<PolledSource> source, const Clock& clock);

  /// Samples all; the CPU meter first, since what it says is compared with what ran.
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
  /// Of every meter that was opened or failed to open.
  [[nodiscard]] std::vector<snapshot::SourceStatus> status() const;
  [[nodiscard]] const MeterSelector& cpu() const { return *cpu_; }

 private:
  struct Other {
    std::unique_ptr<Meter> meter;
    bool open = false;
  };
  void Gather();
  void Append(const Meter& meter);

  std::unique_ptr<MeterSelector> cpu_;
  std::vector<Other> others_;
  std::vector<snapshot::Zone> zones_;
  std::vector<ZoneDelta> deltas_;
};

}  // namespace kepler::energy
