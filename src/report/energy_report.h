#pragma once
// Report: energy of a period by workload. total = Σ rows + Σ rest, exactly, in microjoules.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "report/energy_line.h"

namespace kepler::report {

/// What a row is about.
enum class By : uint8_t { kNamespace, kOwner, kPod, kContainer, kVm, kProject, kProcess, kUser, kNode };
/// "namespace", "owner", "pod", "container", "vm", "project", "process", "user", "node".
[[nodiscard]] std::string_view ToString(By by);
/// Level of the lines that make the rows: "vm" for a project, otherwise ToString().
[[nodiscard]] std::string_view LevelOf(By by);

struct Amount {
  Energy energy;
  double grams = 0;          // CO2
  std::vector<Energy> bins;  // energy by time, in Report::bin_width from Report::bins_from; may be shorter than others
};

struct Row {
  std::string name;
  Amount amount;
};

constexpr int kMaxIntervals = 3;  // between two ticks of a node, if none is missing

/// Time without ticks of a node.
struct Downtime {
  std::string node;
  Milliseconds from;
  Milliseconds to;
};

struct Report {
  By by = By::kNamespace;
  std::vector<std::string> zones;
  std::vector<std::string> nodes;
  Milliseconds from{};  // of the energy in the report
  Milliseconds to{};
  Milliseconds bins_from{};
  std::chrono::milliseconds bin_width{0};
  Amount total;                     // of all nodes
  std::vector<Row> rows;            // with energy, the largest first
  std::vector<Row> rest;            // energy that belongs to no row, each with the reason as its name
  std::vector<Downtime> downtimes;  // energy that nobody measured or recorded
  std::vector<Downtime> gaps;       // energy that is known as a sum
  std::vector<std::string> notes;   // more that a reader must know
  size_t ticks = 0;                 // with energy of the period
  size_t incomplete = 0;            // ticks without their last lines, left out; the next one has their energy
  size_t repeated = 0;              // ticks that are in the files twice, counted once
  size_t impossible = 0;            // ticks that do not add up or whose totals are smaller than before, left out
};

[[nodiscard]] double KwhOf(Energy energy);

/// "1 tick", "2 ticks".
[[nodiscard]] std::string CountText(size_t number, std::string_view noun);

/// Adds energy, grams and every bin.
void AddTo(const Amount& from, Amount& to);

/// Keeps the `max` largest rows, and adds the others up in one row.
void KeepLargest(size_t max, Report& report);

}  // namespace kepler::report
