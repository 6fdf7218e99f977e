#pragma once
// What a user sees of each energy meter: state, reason and remedy, zones. `kepler meters` and the landing page show
// the same reports. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"

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
};

struct MeterReport {
  std::string name;         // "rapl"
  std::string measures;     // "cpu", "machine"
  std::string interface{};  // as status::SourceStatus: of rapl "powercap", "perf", "msr"
  MeterState state = MeterState::kMissing;
  std::string reason{};                           // why it is not used, or not completely, and what to do
  std::optional<Nanoseconds> longest_interval{};  // energy is lost if counters are read less often; empty: never
  std::vector<ReportedZone> zones{};
};

/// Judges a meter that cannot be read. `is_present`: the machine has it.
void JudgeUnreadable(MeterReport& meter, bool is_present, const Error& error);

/// Judges a meter that was opened. `failure`: of a zone, null if none fails. `has_moved`: a counter has moved, or a
/// sensor has shown power.
void JudgeOpen(MeterReport& meter, const Error* failure, bool has_moved);

/// Marks the meter of the CPUs and the meter of the machine that the agent uses, by the order of `meters`. Adds the
/// power model if it replaces the meter of the CPUs.
void ChooseMeters(std::vector<MeterReport>& meters, bool require_meter);

/// A table for people.
[[nodiscard]] std::string MeterTable(const std::vector<MeterReport>& meters);
/// {"meters": [{"name": …, "measures": …, "state": …, "zones": […]}]} in one line.
[[nodiscard]] std::string MeterJson(const std::vector<MeterReport>& meters);

}  // namespace kepler::agent
