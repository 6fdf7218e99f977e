#include "model/node_types.h"

#include <algorithm>
#include <optional>

namespace kepler::model {
namespace {

bool IsComplete(const MachineSpec& machine) {
  return !machine.processor.empty() && machine.cores > 0 && machine.chips > 0 && machine.memory_gib > 0 &&
         machine.frequency_mhz > 0;
}

/// Returns the attributes that both machines know with the same value.
MachineSpec Common(const MachineSpec& a, const MachineSpec& b) {
  MachineSpec common;
  if (a.processor == b.processor) common.processor = a.processor;
  const auto keep = [&](uint32_t MachineSpec::* attribute) {
    if (a.*attribute == b.*attribute) common.*attribute = a.*attribute;
  };
  keep(&MachineSpec::cores);
  keep(&MachineSpec::chips);
  keep(&MachineSpec::memory_gib);
  keep(&MachineSpec::frequency_mhz);
  return common;
}

/// A type in the list counts as at least one machine.
double Weight(const NodeType& type) { return static_cast<double>(std::max<uint64_t>(type.members, 1)); }

double Uncertainty(std::span<const NodeType> types, size_t chosen, const MachineSpec& known) {
  double all = 0;
  for (const NodeType& type : types)
    if (Covers(known, type.machine)) all += Weight(type);
  return 1 - Weight(types[chosen]) / all;
}

std::optional<size_t> BestCovering(std::span<const NodeType> types, const MachineSpec& machine) {
  const bool complete = IsComplete(machine);
  std::optional<size_t> best;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!Covers(machine, types[i].machine)) continue;
    if (!best || (!complete && Weight(types[i]) > Weight(types[*best]))) best = i;
  }
  return best;
}

size_t MostSimilar(std::span<const NodeType> types, const MachineSpec& machine) {
  const auto rank = [&](const NodeType& type) { return std::pair(Similarity(machine, type.machine), Weight(type)); };
  return static_cast<size_t>(std::ranges::max_element(types, {}, rank) - types.begin());
}

}  // namespace

Result<NodeTypeMatch> FindNodeType(std::span<const NodeType> types, const MachineSpec& machine) {
  if (types.empty()) return Fail(ErrorKind::kNotFound, "the database has no machine types");
  if (const auto covering = BestCovering(types, machine))
    return NodeTypeMatch{.type = *covering,
                         .similarity = 1,
                         .uncertainty = IsComplete(machine) ? 0 : Uncertainty(types, *covering, machine)};
  const size_t nearest = MostSimilar(types, machine);
  const MachineSpec& other = types[nearest].machine;
  return NodeTypeMatch{.type = nearest,
                       .similarity = Similarity(machine, other),
                       .uncertainty = Uncertainty(types, nearest, Common(machine, other))};
}

}  // namespace kepler::model
