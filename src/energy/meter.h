#pragma once
// Meter: converts the readings of one EnergySource to energy per exported zone. It computes the difference of each
// counter, checks physical limits, integrates power sensors by the trapezoidal rule, and sums the domains of a zone. It
// searches for domains again after a driver reload or a hot-unplug. If a domain is unreadable, its zone continues with
// the energy of the other domains, but without watts. The next good reading of the domain adds the missing energy, so
// no energy is lost. New domains count from their first reading. Collection thread only.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/suspended_time.h"
#include "energy/energy_source.h"
#include "status/energy_status.h"

namespace kepler::energy {

/// Energy of a zone since the previous scan.
struct ZoneDelta {
  Energy energy;       // >= 0
  Power power;         // mean over the interval: each domain's energy ÷ the time since its last good reading
  bool fresh = false;  // every domain that is not switched off gave an amount: read now and before, neither reset nor
                       // rejected. Else energy is what the others gave, and power is unknown (0)
  bool unchanged = false;  // fresh, but no domain had anything new: energy is 0, power as before
  bool unused = false;     // a domain used no energy: it has no amount, and misses none
  bool only_load = false;  // as DomainReading, as is generation; 0 where nothing was read
  uint32_t generation = 0;
  status::ZoneDomains domains;
  std::optional<status::CounterCheck> check{};  // of the last reading
};

class Meter {
 public:
  static constexpr size_t kMaxAnnounced = 20;
  /// Maximum plausible power: twice Domain.max_power. Without it, 2 kW for a counter (one per socket) and 20 kW for a
  /// power sensor (it may measure a whole server). Before a reading is rejected, the current limit is read from the
  /// source.
  /// `suspended` returns the time since boot in which the machine was suspended.
  Meter(std::unique_ptr<EnergySource> source, const Clock& clock,
        std::function<Nanoseconds()> suspended = SuspendedTime);
  ~Meter();

  /// Discovers the domains, and reads each once to check that at least one answers. The values are not used: the first
  /// Sample() is the baseline. Must succeed before Sample().
  Status Open();
  /// Counts a failed Open() as a failed read.
  void CountFailedOpen() { ++status_.failed_reads; }
  /// Logs the first kMaxAnnounced zones, and the number of the others. Call it for the meter in use.
  void Announce() const;
  /// Zones never go away while the agent runs (their totals stay); new ones are appended. Name and path stay as they
  /// were first shown, also when the number of domains behind the zone changes.
  [[nodiscard]] std::span<const status::Zone> zones() const { return zones_; }
  /// Reads everything. `deltas()` then has one entry per zone of `zones()`.
  void Sample();
  [[nodiscard]] std::span<const ZoneDelta> deltas() const { return deltas_; }
  /// Time right before the last Sample() read the first domain.
  [[nodiscard]] BootTime taken_at() const { return taken_at_; }
  /// Time up to which energy is counted: the oldest of the last good readings of all domains. Epoch before the first
  /// good reading.
  [[nodiscard]] BootTime counted_until() const;
  /// The same for the domains of a zone that the latest search found; epoch if there are none.
  [[nodiscard]] BootTime CountedUntil(size_t zone) const;
  /// Returns true if the latest search found a domain of the zone.
  [[nodiscard]] bool IsListed(size_t zone) const;
  [[nodiscard]] const status::SourceStatus& status() const { return status_; }
  [[nodiscard]] Authority authority() const { return source_->authority(); }
  [[nodiscard]] status::Domain domain() const { return source_->domain(); }
  /// The longest time between two scans in which no counter can wrap twice unseen, at the most power of its domain
  /// (without a stated one: 1 kW). Nothing if no counter wraps.
  [[nodiscard]] std::optional<Nanoseconds> longest_interval() const;
  /// True once any counter moved or any sensor showed power (a dead meter never advances).
  [[nodiscard]] bool has_moved() const { return status_.has_moved; }

 private:
  struct DomainState;
  [[nodiscard]] Status TryOpen();
  void Adopt(std::vector<Domain> found);
  size_t ZoneFor(const Domain& domain, std::span<const Domain> found);
  void SearchForDomains();
  void FindReplaced();
  void Rediscover();
  void Reset();
  void NoteProblem();
  void AccountMissing();
  void AccountOffline(DomainState& state, bool offline);
  void SumUpZones();
  bool Account(DomainState& state, const DomainReading& reading);
  void AccountCounter(DomainState& state, RawCounter now, const DomainReading& reading);
  void AccountPower(DomainState& state, Power now, BootTime at);
  void Credit(DomainState& state, Energy energy, Power power);
  [[nodiscard]] bool RaiseMaxPower(DomainState& state);
  void SuspectUnknownWraps(DomainState& state, Energy energy, Nanoseconds elapsed);
  void Complain(const DomainState& state, std::string_view what, std::string why, std::string_view action);

  std::unique_ptr<EnergySource> source_;
  const Clock& clock_;
  const std::function<Nanoseconds()> read_suspended_;
  std::vector<DomainState> domains_;  // all domains found so far: a domain that returns continues from its last reading
  std::vector<size_t> read_order_;    // index into domains_ for each reading of the source
  std::vector<status::Zone> zones_;
  std::vector<ZoneDelta> deltas_;
  std::vector<DomainReading> readings_;
  status::SourceStatus status_;
  BootTime taken_at_{};
  Nanoseconds suspended_{0};  // time that the machine was suspended, at taken_at_
  BootTime searched_at_{};    // latest search for domains
  bool changed_ = false;      // latest result of HasChanged()
  bool rediscover_ = false;
  bool discovery_failed_ = false;
  log::LogLimiter limiter_{std::chrono::hours(1)};  // a lasting fault is logged again
};

}  // namespace kepler::energy
