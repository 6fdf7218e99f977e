#pragma once
// Answers of the agent's JSON API, as the screen needs them: /api/v1/snapshot and /api/v1/history. Texts are as the
// agent sent them, so they may hold anything: clean them before a terminal sees them (text_cells.h). Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::top {

/// Power in watts, energy in joules since the start of the agent.
struct ZoneReading {
  std::string zone{};
  std::string source{};                                         // the meter
  std::optional<double> watts{}, active_watts{}, idle_watts{};  // nothing: unknown, for example after missed ticks
  double joules = 0, active_joules = 0, idle_joules = 0;
};

struct ZoneUse {
  std::string zone{};
  std::optional<double> watts{};
  double joules = 0;
};

struct MeterReading {
  std::string name{}, state{}, reason{};
};

/// A process, container, pod, virtual machine or namespace. Texts that do not apply are empty.
struct WorkloadReading {
  std::string id{}, name{}, name_space{}, pod{}, container{}, comm{}, exe{}, runtime{};
  std::optional<uint64_t> pid{};
  bool running = true;
  std::optional<double> watts{}, cpu_cores{};
  double joules = 0;
  std::optional<double> cpu_seconds{};  // since the agent has seen it
  std::vector<ZoneUse> zones{};
};

struct Readings {
  std::string time{};  // of the tick
  double interval_seconds = 0;
  bool stale = false;
  std::string node{}, version{}, started{};
  std::vector<ZoneReading> zones{};
  std::vector<MeterReading> meters{};
  std::string level{}, zone{};  // of the workloads; "": there are none, since the node has no zone
  uint64_t total = 0, matching = 0;
  std::vector<WorkloadReading> rows{};
  double unlisted_joules = 0, unattributed_joules = 0;
};

/// Reads an answer of /api/v1/snapshot. Unknown keys are ignored. kMalformed, with the byte or the path, if it is not
/// JSON, if its version is not 1, or if a value has another type.
[[nodiscard]] Result<Readings> ReadReadings(std::string_view text);

/// Power of one zone at each tick; nothing where it is unknown.
struct ZoneHistory {
  std::string zone{};
  std::vector<std::optional<double>> watts{};  // oldest first
};
struct PowerHistory {
  double step_seconds = 0;
  std::vector<ZoneHistory> zones{};
};

/// Reads an answer of /api/v1/history. Errors as ReadReadings().
[[nodiscard]] Result<PowerHistory> ReadHistory(std::string_view text);

}  // namespace kepler::top
