#pragma once
// The sequence of loads under which a machine is measured, and the rows of a table that belong to each load. Pure.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/dataset/extract.h"

namespace kepler::lab::dataset {

/// A load: a stressor of stress-ng and its number of instances; "idle" has none.
struct Phase {
  std::string stressor{};
  unsigned instances = 0;
  bool operator==(const Phase&) const = default;
};

inline constexpr std::string_view kIdle = "idle";
inline constexpr size_t kMaxPhases = 10'000;
/// Maximum number of instances per CPU. One per CPU loads the CPUs fully; stressors that wait for disks or for each
/// other need more. Thousands would use up memory and process ids.
inline constexpr unsigned kInstancesPerCpu = 4;

/// Parses a comma-separated list of items: "cpu" (1, 2, 4, 8 ... up to `cpus` instances), "cpu:1+2+max" (up to
/// kInstancesPerCpu per CPU; a repeated number counts once), "idle", "default" (several loads). The first phase is
/// always idle. kInvalid names the item.
[[nodiscard]] Result<std::vector<Phase>> ParseSchedule(std::string_view text, unsigned cpus);

/// Shuffles all phases except the first. The same seed gives the same order; 0 keeps the order.
void Shuffle(std::span<Phase> phases, uint64_t seed);

/// Begin and end of a phase.
struct Lasted {
  Phase phase{};
  double begin = 0, end = 0;  // Unix seconds
};

/// Removes rows that are not completely in one phase. Returns the index in `lasted` of the phase of each other row.
[[nodiscard]] std::vector<size_t> KeepRowsInPhases(Extraction& extraction, std::span<const Lasted> lasted);

}  // namespace kepler::lab::dataset
