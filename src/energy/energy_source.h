#pragma once
// EnergySource: where joules come from. One folder per kind of meter. A source only reads; differences, the physical
// gate and the sum over sockets are the Meter's (energy/meter.h). Owned and called by the collection thread only.
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

/// One counter or sensor: a RAPL domain of one socket, an hwmon channel. Domains of one zone name are summed.
struct Domain {
  std::string zone;  // exported name: "package", "core", "dram", "psys", …
  std::string path;  // the label value when this domain is alone in its zone: the real sysfs path, or "model"
  std::string key;   // identity across rediscovery: (zone, socket/index/path); unique within the source
  std::optional<uint64_t> range;   // counters: the largest value before the wrap
  std::optional<Power> max_power;  // physical limit, where the hardware states one
  std::string note;                // what to say about it in the log, "" for nothing
};

/// Not to be counted in this sample: the domain shows, or may be showing, what another one of its zone shows.
struct Withheld {
  bool for_good = false;  // that is certain: it is no domain of its own, whatever becomes of it
  bool unused = false;    // nor did it use anything: what it shows next is of the time from now on
};
using Answer = std::variant<RawCounter, Power, Error, Withheld>;

/// A domain's answer, and when it was given: the same time again is the same answer again, of a source that is read
/// less often than the agent ticks (polled_source.h).
struct DomainReading {
  BootTime at{};  // says nothing where `value` is an error
  Answer value;
  bool only_load = false;   // an estimate of what load adds to the machine: no part of it is idle
  uint32_t generation = 0;  // of an estimate: another number, another model. What was learnt of the last one is void
};

/// How a source knows its values, the highest authority first. In a domain, a source of a lower authority counts only
/// while none of a higher one answers.
enum class Authority : uint8_t {
  kMeasured,  // by hardware that measures this domain
  kDerived,   // computed from what was measured elsewhere: a host tells its guest the guest's part
  kEstimated  // by a power model
};

class EnergySource {
 public:
  virtual ~EnergySource() = default;
  /// Label value of kepler_node_energy_source_info: "rapl", "hwmon", "fake", "model".
  [[nodiscard]] virtual std::string_view Name() const = 0;
  /// The part of the machine that all its domains are of, and how it knows their energy. Both never change.
  [[nodiscard]] virtual status::Domain domain() const = 0;
  [[nodiscard]] virtual Authority authority() const = 0;
  /// Looks for domains. Called at start, again after a reading answered kGone or kNotFound, when HasChanged(), and from
  /// time to time while a domain that was there is missing. An error says what was looked for, where, and what would
  /// help, and leaves the former list in force; an empty list is never returned.
  [[nodiscard]] virtual Result<std::vector<Domain>> Discover() = 0;
  /// Reads every domain of the last Discover(), in that order, into `out` (resized; reused).
  virtual void Read(std::vector<DomainReading>& out) = 0;
  /// Brings the max_power of `domain`, the one at `index` of the last Discover(), up to date: limits are rewritten and
  /// CPUs come online while the agent runs. Called before a reading is refused and after samples far apart, so it may
  /// cost reads; where nothing can be learnt it stays as it is.
  virtual void UpdateMaxPower(size_t /*index*/, Domain& /*domain*/) {}
  /// Whether another Discover() may find other domains than the last one did. Asked every few seconds, so it must cost
  /// next to nothing; true where in doubt.
  [[nodiscard]] virtual bool HasChanged() { return false; }
  /// Whether all of the part of the machine that `domain`, of any Discover(), measures is switched off, so that there
  /// is nothing to read and nothing to miss. Asked in each sample about a domain that gives no reading; false where in
  /// doubt.
  [[nodiscard]] virtual bool IsOffline(const Domain& /*domain*/) { return false; }
};

}  // namespace kepler::energy
