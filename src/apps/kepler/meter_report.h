#pragma once
// What a user sees of each energy meter: state, reason and remedy, zones. `kepler meters` and the landing page show
// the same reports. Pure.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "status/energy_status.h"

namespace kepler::agent {

enum class MeterState : uint8_t {
  kUsed,    // the agent counts its energy
  kReady,   // it works, but a meter of higher preference is used
  kSilent,  // the machine has it, but it gives no reading, or does not advance
  kDenied,  // the agent lacks the right to read it
  kMissing  // this machine does not have it, or it is not configured
};
/// Returns "used", "ready", "silent", "denied", "missing".
[[nodiscard]] std::string_view ToString(MeterState state);

/// A zone of a CPU meter, or a sensor of a platform meter.
struct ReportedZone {
  std::string name;
  std::string path;  // as in the metrics
  Power power;
  bool is_known = false;  // the power was read; it can be unknown for a battery on mains
  bool is_part = false;   // of a platform meter: a part of what its other sensors measure
  status::Resolution resolution{};
};

struct MeterReport {
  std::string name;         // "rapl"
  std::string measures;     // "cpu", "machine"
  std::string interface{};  // as status::SourceStatus: of rapl "powercap", "perf", "msr"
  MeterState state = MeterState::kMissing;
  std::string reason{};                           // why it is not used, or not completely, and what to do
  Nanoseconds period{0};                          // time between two readings; 0: on demand
  std::optional<Nanoseconds> longest_interval{};  // energy is lost if counters are read less often; empty: never
  std::vector<ReportedZone> zones{};
};

/// Judges a meter that cannot be read. `is_present`: the machine has it.
void JudgeUnreadable(MeterReport& meter, bool is_present, const Error& error);

/// Judges a meter that was opened, by its zones and its status.
void JudgeOpen(MeterReport& meter, const status::SourceStatus& status);

/// The power model that replaces a meter of the CPUs, or of the machine (Domain::kPlatform).
[[nodiscard]] MeterReport ModelInUse(status::Domain domain);

/// Marks the meter of the CPUs and the meter of the machine that the agent uses, by the order of `meters`, unless one
/// is marked. Adds the power model if it replaces the meter of the CPUs.
void ChooseMeters(std::vector<MeterReport>& meters, bool require_meter);

/// Returns "61 µJ", "1 mW"; "-" if it is unknown.
[[nodiscard]] std::string ToText(const status::Resolution& resolution);

inline constexpr size_t kMeterColumns = 9;
inline constexpr std::array<std::string_view, kMeterColumns> kMeterHeaders = {
    "Meter", "Measures", "State", "Zone or sensor", "Watts", "Resolution", "Read every", "Wraps in", "Path"};
/// One row for each zone, and for each meter without zones.
using MeterRow = std::array<std::string, kMeterColumns>;
struct MeterRows {
  std::vector<MeterRow> rows;
  std::vector<std::string> reasons;  // "rapl: no RAPL zone in …"
};
/// Of each meter the first `max_zones`, and the number of the others.
[[nodiscard]] MeterRows ToRows(const std::vector<MeterReport>& meters, size_t max_zones);

/// A table for people.
[[nodiscard]] std::string MeterTable(const std::vector<MeterReport>& meters);
/// {"meters": [{"name": …, "measures": …, "state": …, "zones": […]}]} in one line.
[[nodiscard]] std::string MeterJson(const std::vector<MeterReport>& meters);

}  // namespace kepler::agent
