#pragma once
// EnergySource: reads the counters or sensors of one kind of meter; each kind has its own folder. The Meter
// (energy/meter.h) computes differences, checks physical limits and sums over sockets. Owned and called by the
// collection thread only.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/counter_delta.h"
#include "base/result.h"
#include "base/units.h"
#include "status/energy_status.h"

namespace kepler::energy {

/// One counter or sensor: a RAPL domain of one socket, an hwmon channel. Domains with the same zone name are summed.
struct Domain {
  std::string zone;                // exported name: "package", "core", "dram", "psys", …
  std::string path;                // label value if this domain is alone in its zone: the sysfs path, or "model"
  std::string key;                 // identity across rediscovery: (zone, socket/index/path); unique within the source
  std::optional<uint64_t> range;   // counters: largest value before the wrap
  std::optional<Power> max_power;  // physical limit; empty if the hardware states none
  std::string note;                // text for the log; "" for none
  std::optional<status::PlatformSensor> sensor{};  // of a platform meter, whose domains are one zone each
  status::Resolution resolution{};
  bool is_summed = false;  // counters: the kernel sums up a register, and may take its reset for a wrap
  std::string doubt{};     // why it does or does not count, if that may be wrong; "" if it is certain
};

/// A reading that must not be counted, because another domain of the zone shows, or may show, the same energy.
struct Withheld {
  bool for_good = false;  // the domain is a mirror and never counts
  bool unused = false;    // the domain used no energy so far: its next reading counts from now on
};
using Answer = std::variant<RawCounter, Power, Error, Withheld>;

/// Answer of a domain with its time. If the time is unchanged, the answer is the previous one: the source is read less
/// often than the agent ticks (polled_source.h).
struct DomainReading {
  BootTime at{};  // not set if `value` is an error
  Answer value;
  bool only_load = false;   // an estimate of dynamic power only, without idle power
  uint32_t generation = 0;  // for an estimate: changes with the model; values learnt for the old model are then void
  std::optional<Power> power{};     // of a counter: the power that the meter states for `at`; empty: it states none
  std::optional<Energy> counter{};  // of a power: the sensor's own energy counter, too coarse to be counted
  std::optional<status::CounterCheck> check{};  // of its counter, by a PolledSource
  uint64_t start = 0;  // of a counter: number of its latest start at 0. If it differs, readings cannot be compared
};

/// Origin of the values of a source, highest authority first. Within a domain, a source of lower authority counts only
/// while no source of higher authority answers.
enum class Authority : uint8_t {
  kMeasured,  // measured by hardware in this domain
  kEstimated  // estimated by a power model
};

class EnergySource {
 public:
  virtual ~EnergySource() = default;
  /// Label value of kepler_node_energy_source_info: "rapl", "hwmon", "fake", "model".
  [[nodiscard]] virtual std::string_view Name() const = 0;
  /// The part of the machine that all its domains are of, and how it knows their energy. Both never change.
  [[nodiscard]] virtual status::Domain domain() const = 0;
  [[nodiscard]] virtual Authority authority() const = 0;
  /// Kernel interface that the values are read through, if the source has several: "powercap", "perf", "msr". "" if it
  /// has one, and before the first Discover().
  [[nodiscard]] virtual std::string_view Interface() const { return {}; }
  /// Searches for domains. Called at startup, after a reading with kGone or kNotFound, after HasChanged() returned
  /// true, and periodically while a known domain is missing. The list is never empty. An error contains the object of
  /// the search, its place and a remedy, and leaves the previous list valid.
  [[nodiscard]] virtual Result<std::vector<Domain>> Discover() = 0;
  /// Reads every domain of the last Discover(), in that order, into `out` (resized; reused).
  virtual void Read(std::vector<DomainReading>& out) = 0;
  /// Updates max_power of `domain`, which has `index` in the last Discover(): limits may be rewritten, and CPUs may
  /// come online. Called only before a reading is rejected and after a long gap, so it may read files. If there is no
  /// new limit, max_power is unchanged.
  virtual void UpdateMaxPower(size_t /*index*/, Domain& /*domain*/) {}
  /// Returns true if Discover() may find other domains now; true if unknown. Called every few seconds, so it must be
  /// cheap.
  [[nodiscard]] virtual bool HasChanged() { return false; }
  /// Returns true if the part of the machine that `domain` (of any Discover()) measures is switched off. Its missing
  /// reading is then no failure. False if unknown. Called in each sample for a domain without a reading.
  [[nodiscard]] virtual bool IsOffline(const Domain& /*domain*/) { return false; }
  /// Ends a Discover() or Read() that waits, and all later ones: the source is about to be destroyed. From any thread.
  virtual void Interrupt() {}
  /// Maximum time that a Discover() or Read() and the destructor take after Interrupt(). From any thread.
  [[nodiscard]] virtual std::chrono::milliseconds MaxFarewell() const { return std::chrono::milliseconds(500); }
};

}  // namespace kepler::energy
