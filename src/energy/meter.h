#pragma once
// Meter: turns the readings of one EnergySource into energy per exported zone: CounterDelta and physical gate per
// domain, trapezoid for power sensors, domains of one zone summed, rediscovery after a driver reload or hot-unplug.
// A domain that cannot be read costs only itself: its zone goes on with the energy of the others, without watts, and
// what the domain counted meanwhile is caught up at its next good reading, so no joule is lost. Domains that appear
// later are found and counted from their first reading on. Collection thread only.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "energy/energy_source.h"

namespace kepler::energy {

/// An exported zone. Zones never go away while the agent runs (their totals stay); new ones are appended. Name and path
/// stay as they were first shown, also when the number of domains behind the zone changes.
struct Zone {
  std::string name;
  std::string path;  // of its only domain, or "aggregated-<name>"
  bool operator==(const Zone&) const = default;
};

/// What a zone used since the previous look.
struct ZoneDelta {
  Energy energy;         // >= 0
  Power power;           // mean over the interval: each domain's energy ÷ the time since its last good reading
  bool fresh = false;    // every domain that is not switched off gave an amount: read now and before, neither reset nor
                         // rejected. Else energy is what the others gave, and power is unknown (0)
  uint32_t domains = 0;  // known, whether present or not; those that mirror another one are none
  uint32_t domains_read = 0;  // of these, that gave a reading
};

struct SourceHealth {
  std::string source;
  bool up = false;  // the last sample read at least one domain, and no rediscovery is failing
  WallTime last_success{};
  uint64_t rejected_readings = 0;
  Energy rejected_energy;     // refused by the physical gate
  uint64_t resets = 0;        // counter fell without a wrap, or a power sensor was silent for too long (suspend)
  uint64_t failed_reads = 0;  // one per sample and domain without a reading, gone ones too; not of what is switched off
  bool restart_needed = false;  // MeterSelector: better than the meter in use, and readable only since after the start
  uint64_t unknown_wraps = 0;   // a wrap more was possible since the reading before: the energy is a lower bound
};

class Meter {
 public:
  /// What to believe at most: twice Domain.most_power; without it 2 kW of a counter (one per socket) and 20 kW of a
  /// power sensor (it may stand for a whole server). Before anything is refused the source is asked for the present
  /// limit.
  Meter(std::unique_ptr<EnergySource> source, const Clock& clock);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// Discovers, and reads every domain once to see that at least one answers (the values are not used: the first
  /// Sample() is the baseline). Must succeed once before Sample().
  Status Open();
  /// Logs its zones: for the meter that is used.
  void Announce() const;
  /// Reads everything. `deltas()` then has one entry per zone of `zones()`.
  void Sample();
  [[nodiscard]] std::span<const Zone> zones() const { return zones_; }
  [[nodiscard]] std::span<const ZoneDelta> deltas() const { return deltas_; }
  /// The instant before the first domain of the last Sample() was read.
  [[nodiscard]] BootTime taken_at() const { return taken_at_; }
  [[nodiscard]] const SourceHealth& health() const { return health_; }
  [[nodiscard]] bool is_estimate() const { return source_->IsEstimate(); }
  /// The longest time between two looks in which no counter can wrap twice unseen, at the most power of its domain
  /// (without a stated one: 1 kW). Nothing if no counter wraps.
  [[nodiscard]] std::optional<Nanoseconds> longest_interval() const;
  /// True once any counter moved or any sensor showed power (a dead meter stands still for ever).
  [[nodiscard]] bool has_moved() const { return has_moved_; }

 private:
  struct DomainState;
  void Adopt(std::vector<Domain> found);
  size_t ZoneFor(const Domain& domain, std::span<const Domain> found);
  void LookForDomains();
  void Rediscover();
  void Reset();
  void AccountMissing();
  void AccountOffline(DomainState& state, bool offline);
  void SumUpZones();
  bool Account(DomainState& state, const DomainReading& reading);
  void AccountCounter(DomainState& state, RawCounter now, BootTime at);
  void AccountPower(DomainState& state, Power now, BootTime at);
  void Credit(DomainState& state, Energy energy, Nanoseconds elapsed);
  [[nodiscard]] bool RaiseMostPower(DomainState& state);
  void SuspectUnknownWraps(DomainState& state, Energy energy, Nanoseconds elapsed);
  void Complain(const DomainState& state, std::string_view what, std::string why, std::string_view action);

  std::unique_ptr<EnergySource> source_;
  const Clock& clock_;
  std::vector<DomainState> domains_;  // all that were ever seen: one that comes back goes on where it was
  std::vector<size_t> read_order_;    // index into domains_ for each reading of the source
  std::vector<Zone> zones_;
  std::vector<ZoneDelta> deltas_;
  std::vector<DomainReading> readings_;
  SourceHealth health_;
  BootTime taken_at_{};
  BootTime looked_at_{};  // for domains
  bool changed_ = false;  // the source, when it was last asked
  bool has_moved_ = false;
  bool rediscover_ = false;
  bool discovery_failed_ = false;
  log::LogLimiter limiter_{std::chrono::hours(1)};  // a fault that lasts is said again
};

/// The zone that stands for the machine when workloads are ranked: psys, package, socket, cpu, core, dram, uncore, then
/// the usual names of hwmon sensors, else the first. Names are compared without case. 0 for no zones.
[[nodiscard]] size_t SelectPrimaryZone(std::span<const Zone> zones);

}  // namespace kepler::energy
