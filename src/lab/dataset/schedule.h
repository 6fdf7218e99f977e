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
/// A machine is as busy as it gets with one for each processor; what waits for disks or each other takes some more.
/// Thousands would take its memory and process numbers.
inline constexpr unsigned kInstancesPerCpu = 4;

/// Items with commas between them: "cpu" (1, 2, 4, 8 ... up to `cpus` instances), "cpu:1+2+max" (up to
/// kInstancesPerCpu for each; a number that stands there twice counts once), "idle", "default" (several). Begins with
/// idle, whether that is said or not. kInvalid names the item.
[[nodiscard]] Result<std::vector<Phase>> ParseSchedule(std::string_view text, unsigned cpus);

/// All but the first in another order, the same for the same seed; 0: as they are.
void Shuffle(std::span<Phase> phases, uint64_t seed);

/// From when to when a phase lasted.
struct Lasted {
  Phase phase{};
  double begin = 0, end = 0;  // Unix seconds
};

/// Leaves out the rows that lie in no phase whole, and gives each of the others the place of its phase in `lasted`.
[[nodiscard]] std::vector<size_t> KeepRowsInPhases(Extraction& extraction, std::span<const Lasted> lasted);

}  // namespace kepler::lab::dataset
