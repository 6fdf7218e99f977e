#include "lab/dataset/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::lab::dataset {
namespace {

/// The stressors of Kepler's own models, and stressors that fill memory and switch tasks.
constexpr std::string_view kDefault = "default";
constexpr std::string_view kDefaultSchedule = "idle,cpu,branch,regs,l1cache,cache,stream,vm,switch";

/// Returns the powers of two below `cpus`, and `cpus`.
std::vector<unsigned> UsualInstances(unsigned cpus) {
  std::vector<unsigned> counts;
  for (unsigned count = 1; count < cpus; count *= 2) counts.push_back(count);
  counts.push_back(cpus);
  return counts;
}

std::unexpected<Error> Refuse(std::string_view item, std::string_view why) {
  return Fail(ErrorKind::kInvalid, fmt::format("'{}' {}", SanitizeUtf8(item, 80), why));
}

/// Checks a name, because it becomes a flag of stress-ng.
bool IsStressorName(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !name.empty() && name.find_first_not_of(kAllowed) == std::string_view::npos && !name.starts_with('-');
}

Result<std::vector<unsigned>> InstancesOf(std::string_view item, std::string_view text, unsigned cpus) {
  std::vector<unsigned> counts;
  Splitter splitter(text, '+');
  while (const auto one = splitter.Next()) {
    const auto count = *one == "max" ? std::optional(cpus) : ParseNumber<unsigned>(*one);
    if (!count || *count == 0) return Refuse(item, "is not STRESSOR:NUMBER+NUMBER, with numbers from 1, or max");
    if (const unsigned most = kInstancesPerCpu * cpus; *count > most)
      return Refuse(item, fmt::format("has {} instances; the maximum is {}, {} for each of {} CPUs", *count, most,
                                      kInstancesPerCpu, cpus));
    if (std::ranges::find(counts, *count) == counts.end()) counts.push_back(*count);
  }
  return counts;
}

Status AddItems(std::string_view text, unsigned cpus, std::vector<Phase>& phases);

Status AddItem(std::string_view item, unsigned cpus, std::vector<Phase>& phases) {
  const size_t colon = std::min(item.find(':'), item.size());
  const std::string_view name = item.substr(0, colon);
  if (item == kDefault) return AddItems(kDefaultSchedule, cpus, phases);
  if (name == kDefault) return Refuse(item, "has instances, but default has fixed instances");
  if (!IsStressorName(name)) return Refuse(item, "is not a stressor; stress-ng --stressors lists them");
  if (name == kIdle) {
    if (colon < item.size()) return Refuse(item, "has instances, but idle has none");
    phases.push_back({.stressor = std::string(kIdle)});
    return {};
  }
  std::vector<unsigned> counts = UsualInstances(cpus);
  if (colon < item.size()) {
    KEPLER_TRY(counts, InstancesOf(item, item.substr(colon + 1), cpus));
  }
  for (const unsigned count : counts) phases.push_back({.stressor = std::string(name), .instances = count});
  return {};
}

Status AddItems(std::string_view text, unsigned cpus, std::vector<Phase>& phases) {
  Splitter items(text, ',');
  while (const auto item = items.Next()) {
    if (Trim(*item).empty()) continue;
    KEPLER_CHECK_OK(AddItem(Trim(*item), cpus, phases));
    if (phases.size() > kMaxPhases) return Fail(ErrorKind::kInvalid, fmt::format("more than {} phases", kMaxPhases));
  }
  return {};
}

}  // namespace

Result<std::vector<Phase>> ParseSchedule(std::string_view text, unsigned cpus) {
  std::vector<Phase> phases;
  KEPLER_CHECK_OK(AddItems(text, cpus, phases));
  if (phases.empty()) return Fail(ErrorKind::kInvalid, "names no stressor");
  if (phases.front().stressor != kIdle) phases.insert(phases.begin(), Phase{.stressor = std::string(kIdle)});
  return phases;
}

void Shuffle(std::span<Phase> phases, uint64_t seed) {
  if (seed == 0) return;
  // The C++ standard defines the numbers of this generator, but not those of distributions and std::shuffle(). So the
  // order is the same with each standard library.
  std::mt19937_64 dice(seed);
  for (size_t i = phases.size(); i > 2; --i) std::swap(phases[i - 1], phases[1 + dice() % (i - 1)]);
}

std::vector<size_t> KeepRowsInPhases(Extraction& extraction, std::span<const Lasted> lasted) {
  std::vector<size_t> places;
  std::erase_if(extraction.rows, [&](const Row& row) {
    const auto found = std::ranges::find_if(
        lasted, [&](const Lasted& phase) { return row.begin >= phase.begin && row.end <= phase.end; });
    if (found == lasted.end()) return true;
    places.push_back(static_cast<size_t>(found - lasted.begin()));
    return false;
  });
  return places;
}

}  // namespace kepler::lab::dataset
