#pragma once
// MeterSet: all meters of the machine. MeterSelector chooses one of them as the CPU meter. The others have separate
// zones: a device, the power supply of the machine, an estimate for a part without a meter. UseOf() decides which of
// them are opened and counted. Collection thread only.
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "energy/estimate_source.h"
#include "energy/meter.h"
#include "energy/meter_choice.h"
#include "energy/meter_selector.h"
#include "energy/other_energy.h"
#include "energy/platform_meters.h"

namespace kepler::energy {

/// The zone that stands for the machine when workloads are ranked: psys, package, socket, cpu, core, dram, uncore, then
/// the usual names of hwmon sensors, else the first. Names are compared without case. 0 for no zones.
[[nodiscard]] size_t SelectPrimaryZone(std::span<const status::Zone> zones);

class MeterSet {
 public:
  /// Maximum gap in the readings of a power sensor. The energy of a longer gap is not counted.
  static constexpr std::chrono::minutes kMaxSilence{5};

  /// `cpu` must be open.
  MeterSet(std::unique_ptr<MeterSelector> cpu, const Clock& clock);
  /// Adds a source at any time. It must not block: a slow one is behind a PolledSource with a running thread. It is
  /// opened as soon as it answers, and then stops the sources of its domain that have a lower authority. After
  /// kMaxSilence without an answer they count again. No time is counted twice; around each change the energy of at most
  /// one interval between readings is not counted. kInvalid if a meter of that name exists, because their zones could
  /// not be told apart, or if UseOf() refuses it.
  [[nodiscard]] Status Add(std::unique_ptr<EnergySource> source);
  /// Adds an estimate. It is opened as soon as UseOf() allows it with the CPU meter in use, and stays open. Estimates
  /// may share a name. kInvalid if UseOf() refuses it.
  [[nodiscard]] Status AddEstimate(std::unique_ptr<EstimateSource> source);
  /// Adds the meters of the whole machine, once at most. Their total is a source of kPlatform as any other.
  [[nodiscard]] Status AddPlatform(std::unique_ptr<PlatformMeters> meters);

  /// Samples all meters. The CPU meter is first: its energy is compared with the CPU time of the same moment, and is
  /// the lower limit of an estimate for the platform.
  void Sample();
  /// Time right before the CPU meter was read.
  [[nodiscard]] BootTime taken_at() const { return cpu_->current().taken_at(); }
  /// The CPU meter's zones, then those of the others. Changes when a zone appears, and where the CPU meter is replaced;
  /// a zone that was charged stays.
  [[nodiscard]] std::span<const status::Zone> zones() const { return zones_; }
  /// What each zone used since the previous sample.
  [[nodiscard]] std::span<const ZoneDelta> deltas() const { return deltas_; }
  /// Index of the zone by which workloads are ranked: a zone of the CPU meter.
  [[nodiscard]] size_t primary_zone() const;
  /// Of every meter that was opened or failed to open; estimates of one name are one source.
  [[nodiscard]] std::vector<status::SourceStatus> status() const;
  /// Replaces `out` by what says by which models the zones are estimated.
  void ReadEstimates(std::vector<status::EstimateStatus>& out) const;
  /// Replaces `out` by the figures of every sensor of the platform meters.
  void ReadPlatform(std::vector<status::PlatformReading>& out) const;
  /// Energy of the machine without its CPU zones; empty without a measured total or a measured package.
  [[nodiscard]] std::optional<status::OtherEnergy> other() const { return other_energy_.result(); }

 private:
  ///              cannot be opened               opened
  ///   kUntried ------------------> kFailed ------------------> kStandby <=> kCounting
  ///      |                                                        ^
  ///      +--------------------------------------------------------+
  /// A source that no longer answers stays open: its Meter searches for it.
  enum class State : uint8_t {
    kUntried,  // UseOf() has not allowed it yet
    kFailed,   // it could not be opened yet
    kStandby,  // sampled, but its energy is not counted
    kCounting
  };
  struct Other {
    std::unique_ptr<Meter> meter;
    EstimateSource* estimate = nullptr;  // source of the meter, if it is an estimate
    State state = State::kUntried;
    bool has_counted = false;  // its zones are listed
    bool is_baseline = false;  // latest sample: a part of its energy is from time that another source counted
    BootTime answered_at{};    // the latest answer
    BootTime read_from{};      // end of the readings of the previous sample
    BootTime counted_until{};  // time up to which it counted
    [[nodiscard]] bool is_open() const { return state >= State::kStandby; }
    [[nodiscard]] bool counts() const { return state == State::kCounting; }
  };
  void SampleOthers();
  void UpdateCounting(Other& next);
  void Begin(Other& next, BootTime after);
  [[nodiscard]] bool Answers(const Other& other) const;
  [[nodiscard]] std::optional<Authority> Answering(status::Domain domain) const;
  [[nodiscard]] Status Insert(std::unique_ptr<Meter> meter, EstimateSource* estimate);
  void TryOpen(Other& other);
  [[nodiscard]] Use FindUse(const Other& other) const;
  [[nodiscard]] MeasuredParts PackageAndDram() const;
  void CompareWithPlatform(const MeasuredParts& measured);
  void Gather();
  void Append(const Meter& meter, bool counts);

  std::unique_ptr<MeterSelector> cpu_;
  std::vector<Other> others_;
  PlatformMeters* platform_ = nullptr;     // source of one of the others
  PlatformMeters::Total platform_before_;  // at the previous sample
  OtherEnergy other_energy_;
  const Clock& clock_;
  log::LogLimiter limiter_{std::chrono::hours(1)};
  std::vector<status::Zone> zones_;
  std::vector<ZoneDelta> deltas_;
};

}  // namespace kepler::energy
