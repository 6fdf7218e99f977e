#pragma once
// The result of `kepler run`: the energy of one command, as text and as JSON. Pure.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "snapshot/snapshot.h"
#include "status/zone_origin.h"

namespace kepler::agent {

struct RunZone {
  std::string name;    // "package"
  std::string path;    // as in the metrics
  std::string source;  // the meter, or "model" for an estimate
  status::Origin origin = status::Origin::kMeasured;
  double error_watts = 0;         // of an estimate; 0: unknown
  std::optional<Energy> command;  // active energy of the command; empty: the zone is not divided among processes
  Energy active;                  // of the machine
  Energy total;                   // of the machine, with idle energy
  Nanoseconds measured{0};        // time in which the machine used `total`: shorter if the meter gave readings later
};

struct RunReport {
  std::vector<std::string> argv;
  int exit_code = 0;
  Nanoseconds duration{0};  // from the start of the command to its end
  Nanoseconds measured{0};  // between the first and the last reading of the meters; a little longer
  Nanoseconds cpu{0};       // of the command and everything that it started
  Nanoseconds outside{0};   // CPU time of the command that is not in `cpu`: it ran in other cgroups
  size_t cpus = 0;          // online CPUs of the machine
  size_t left_running = 0;  // processes of the command that are still there
  std::vector<RunZone> zones;
  std::vector<std::string> unmeasured{};  // zones whose meter had no reading between the first tick and the last
};

/// Takes the figures from a snapshot of a node whose first tick, at `begin`, was right before the command. `container`:
/// the id of its cgroup, without an authority. Replaces the zones of an earlier snapshot. The other fields are the
/// caller's.
void FillFrom(const snapshot::Snapshot& snapshot, BootTime begin, std::string_view container, RunReport& report);

/// A table for people.
[[nodiscard]] std::string RunText(const RunReport& report);
/// One JSON object on one line; its form is in docs/measure-a-command.md.
[[nodiscard]] std::string RunJson(const RunReport& report);

}  // namespace kepler::agent
