#pragma once
// The survey of `kepler meters`: opens every meter of the configuration, reads it twice, and says which ones the agent
// would use, and why not the others.
#include <optional>
#include <string>
#include <vector>

#include "apps/kepler/config.h"
#include "base/clock.h"
#include "base/units.h"

namespace kepler::agent {

enum class MeterState : uint8_t {
  kUsed,     // the agent counts its energy
  kReady,    // it works, but a meter of higher preference is used
  kMissing,  // this machine does not have it, or it cannot be read
};
/// Returns "used", "ready", "missing".
[[nodiscard]] std::string_view ToString(MeterState state);

/// A zone of a CPU meter, or a sensor of a platform meter.
struct SurveyedZone {
  std::string name;
  std::string path;  // as in the metrics
  Power power;
  bool is_known = false;  // the power was read; it can be unknown for a battery on mains
  bool is_part = false;   // of a platform meter: a part of what its other sensors measure
};

struct SurveyedMeter {
  std::string name;         // "rapl"
  std::string measures;     // "cpu", "machine"
  std::string interface{};  // as status::SourceStatus: of rapl "powercap", "perf", "msr"
  MeterState state = MeterState::kMissing;
  std::string reason{};                           // of kMissing and kReady: why it is not used, and what to do
  std::optional<Nanoseconds> longest_interval{};  // energy is lost if counters are read less often; empty: never
  std::vector<SurveyedZone> zones{};
};

/// The meters of cpu.preferredMeters and platform.preferredMeters, in that order. Waits for `pause` between the two
/// readings, and for meters that answer slowly. Reads the files of the host; needs the rights of the agent.
[[nodiscard]] std::vector<SurveyedMeter> SurveyMeters(const Config& config, const Clock& clock, Nanoseconds pause);

/// A table for people.
[[nodiscard]] std::string MeterTable(const std::vector<SurveyedMeter>& meters);
/// {"meters": [{"name": …, "measures": …, "state": …, "zones": […]}]} in one line.
[[nodiscard]] std::string MeterJson(const std::vector<SurveyedMeter>& meters);

}  // namespace kepler::agent
