#pragma once
// Status of meters and their zones. Filled by energy/. Counters are totals since startup.
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"

namespace kepler::status {

/// Subject of a zone's measurement. The metric families and labels depend on it.
enum class Domain : uint8_t {
  kCpu,       // CPUs and memory: divided among workloads by CPU time
  kGpu,       // one device: divided among workloads by their use of the device
  kPlatform,  // the whole machine: belongs only to the node
  kOther,     // a part of the machine that no workload uses, such as a fan or a battery: belongs only to the node
  kIdleCpu    // not measured: idle energy of a kCpu zone, if workloads share idle energy
};

/// Smallest step of the values of a meter, as its interface has it: joules of a counter, or watts of a sensor. Both 0:
/// unknown.
struct Resolution {
  double joules = 0;
  double watts = 0;
  bool operator==(const Resolution&) const = default;
};

/// A sensor of a platform meter: the labels of kepler_platform_watts (upstream's names). "" where a meter has none.
struct PlatformSensor {
  std::string bmc_id;
  std::string chassis_id;
  std::string source_id;    // of the sensor within its chassis or device: "PowerControl/0", "BAT0"
  std::string source_name;  // as the meter calls it: "Server Power Control"
  std::string source_type;  // "PowerControl", "PowerSupply", "acpi", "dcmi", "sdr", "battery", "psu", …
  bool whole = true;        // measures a share of the machine's input, so that it counts in the total of its meter;
                            // false: a part of what another sensor of the meter measures
  bool operator==(const PlatformSensor&) const = default;
};

/// Comparison of a power sensor with its own energy counter, since the first reading.
struct CounterCheck {
  Energy difference;     // energy by the counter minus the integral of the power; as accurate as the counter
  uint64_t refused = 0;  // steps of the counter that are impossible: it decreased, or moved too far
  uint64_t bridged = 0;  // long gaps whose energy was taken from the counter
  bool operator==(const CounterCheck&) const = default;
};

/// An exported zone of a meter.
struct Zone {
  std::string name;    // "package"
  std::string path;    // label value: path of the only domain, "aggregated-<name>", or "model"
  std::string source;  // "rapl", "hwmon", "fake", "model"
  Domain domain = Domain::kCpu;
  std::optional<PlatformSensor> sensor{};  // of a platform meter
  Resolution resolution{};                 // of its first domain
  bool operator==(const Zone&) const = default;
};

/// Number of known and read domains of a zone in the last tick.
struct ZoneDomains {
  uint32_t known = 0;  // known domains, present or not; a mirror of another domain does not count
  uint32_t read = 0;   // known domains that gave a reading
};

/// A meter. Filled by energy/.
struct SourceStatus {
  std::string name;
  std::string interface{};  // kernel interface in use: "powercap", "perf", "msr"; "" if the source has only one
  bool up = false;          // the last sample read at least one domain, and rediscovery works
  WallTime last_success{};  // epoch: never
  uint64_t rejected_readings = 0;
  Energy rejected_energy;  // rejected because it is physically impossible
  uint64_t resets = 0;     // the counter fell without a wrap, or a power sensor was silent for too long (suspend)
  // one per sample and domain without a reading, including missing domains; excludes offline CPUs
  uint64_t failed_reads = 0;
  uint64_t unknown_wraps = 0;  // a further wrap was possible since the previous reading: the energy is a lower bound
  uint64_t bridged_gaps = 0;   // long gaps whose energy was taken from another counter of the sensor
  bool has_moved = false;      // any counter moved, or any sensor showed power (a dead meter never advances)
  std::optional<Error> problem{};                 // why it gives no reading, or one of its domains; empty: none fails
  std::optional<Nanoseconds> longest_interval{};  // energy is lost if counters are read less often; empty: never
  std::string doubt{};          // why its sensors do or do not count, if that may be wrong; "" if it is certain
  bool restart_needed = false;  // this meter is better than the one in use, but became readable only after startup
};

}  // namespace kepler::status
