// What an EnergyBook makes of its lines once it has all of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "export/series/figure_text.h"
#include "report/energy_book.h"
#include "report/row_name.h"

namespace kepler::report {

/// Energy from before the name of a workload was known goes to the row with the name.
void EnergyBook::NameRows() {
  for (const auto& [id, unnamed] : row_of_id_)
    if (const auto named = named_.find(id); named != named_.end())
      AddTo(std::exchange(report_.rows[unnamed].amount, {}), report_.rows[named->second].amount);
}

void EnergyBook::NoteSharedNames() {
  constexpr size_t kMaxName = 80;  // bytes
  for (const auto& [name, node] : nodes_) {
    if (!node.is_shared) continue;
    report_.notes.push_back(
        fmt::format("{}: ticks of two agents overlap: two machines have this node name, or a clock was set back; {}",
                    SanitizeUtf8(name, kMaxName),
                    node.foreign == 0 ? "their energy is added up" : CountText(node.foreign, "tick") + " left out"));
  }
}

void EnergyBook::NoteUnmeasured() {
  constexpr size_t kMaxName = 80;  // bytes
  for (const auto& [key, nodes] : unmeasured_) {
    const auto& [zone, origin] = key;
    if (std::ranges::find(options_.zones, zone) == options_.zones.end()) continue;
    const std::string more = nodes.size() == 1 ? "" : " and " + CountText(nodes.size() - 1, "more node");
    report_.notes.push_back(fmt::format(
        "{}{}: the energy of zone {} is {}", SanitizeUtf8(*nodes.begin(), kMaxName), more, SanitizeUtf8(zone, kMaxName),
        origin == "simulated" ? "simulated: nothing is measured" : "estimated by a power model, not measured"));
  }
}

void EnergyBook::NoteIntensity() {
  const auto note = [&](Milliseconds from, Milliseconds to, std::string_view used) {
    if (to <= from) return;
    const std::chrono::duration<double, std::ratio<3600>> hours = to - from;
    report_.notes.push_back(
        fmt::format("no carbon intensity is known from {} to {} ({:.1f} hours); the {} value of the series is used",
                    series::TimeText(from), series::TimeText(to), hours.count(), used));
  };
  note(report_.from, std::min(options_.intensity.Begin(), report_.to), "first");
  note(std::max(options_.intensity.End(), report_.from), report_.to, "last");
}

/// The values of --by that the lines have: "--by=process, container or node".
std::string EnergyBook::OtherLevels() const {
  std::vector<std::string_view> levels;
  for (const By by : {By::kProcess, By::kContainer, By::kPod, By::kNamespace, By::kOwner, By::kVm, By::kUser})
    if (other_levels_.contains(std::string(LevelOf(by)))) levels.push_back(ToString(by));
  if (levels.empty()) return "--by=node";
  return fmt::format("--by={} or node", fmt::join(levels, ", "));
}

/// "; 3 ticks left out, because sums are wrong": for a period without any other tick.
std::string EnergyBook::LeftOut() const {
  std::string text;
  for (const auto& [ticks, reason] :
       {std::pair(report_.impossible, "sums are wrong"), std::pair(report_.incomplete, "last lines are missing")})
    if (ticks > 0) text += fmt::format("; {} left out, because {}", CountText(ticks, "tick"), reason);
  return text;
}

Status EnergyBook::CheckContent() const {
  if (known_zones_.empty()) return Fail(ErrorKind::kInvalid, fmt::format("{} have no line of a node", options_.source));
  for (const std::string& zone : options_.zones)
    if (!known_zones_.contains(zone))
      return Fail(ErrorKind::kInvalid, fmt::format("{} have no zone '{}'; they have {}", options_.source, zone,
                                                   fmt::join(known_zones_, ", ")));
  if (options_.by != By::kNode && !has_level_)
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} have no energy of level '{}'; use {}, or add the level to --metrics of the agent",
                            options_.source, LevelOf(options_.by), OtherLevels()));
  if (options_.by != By::kNode && !is_divided_)
    return Fail(ErrorKind::kInvalid,
                fmt::format("the energy of zone '{}' is not divided among workloads; use --by=node",
                            fmt::join(options_.zones, ", ")));
  if (report_.ticks == 0)
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} have no energy in the period: it takes two complete ticks of a node{}", options_.source,
                            LeftOut()));
  return {};
}

Result<Report> EnergyBook::Close() {
  CloseTick();
  tick_ = {};
  KEPLER_CHECK_OK(CheckContent());
  report_.by = options_.by;
  report_.zones = options_.zones;
  for (auto& [name, node] : nodes_) {
    if (node.is_counted) report_.nodes.push_back(name);
    if (node.times.empty()) continue;  // it has only ticks that are left out
    LearnInterval(name, node);
    FindMissingEnds(name, node);
  }
  NameRows();
  NoteSharedNames();
  NoteUnmeasured();
  NoteIntensity();
  for (size_t i = 0; i < rest_.size(); ++i)
    if (rest_[i].energy != Energy()) report_.rest.push_back({.name = std::string(RestName(i)), .amount = rest_[i]});
  std::erase_if(report_.rows, [](const Row& row) { return row.amount.energy == Energy(); });
  std::ranges::sort(report_.rows, [](const Row& a, const Row& b) {
    return std::pair(b.amount.energy, a.name) < std::pair(a.amount.energy, b.name);
  });
  return std::move(report_);
}

}  // namespace kepler::report
