// The times for which an EnergyBook has no ticks.
#include <algorithm>
#include <chrono>

#include "report/energy_book.h"

namespace kepler::report {

/// Ticks are regular, so a long time between two of them shows that some are missing. The interval may change.
void EnergyBook::FindGap(Node& node) {
  if (node.last < node.run || tick_.time <= node.last) return;  // the first tick of a run
  const Step step{.from = node.last, .to = tick_.time, .is_first = node.last == node.run};
  if (node.interval.count() > 0) return CheckStep(tick_.node, node, step);
  constexpr size_t kEnough = 5, kMaxSteps = 50;
  node.steps.push_back(step);
  if (std::ranges::count(node.steps, false, &Step::is_first) == kEnough || node.steps.size() == kMaxSteps)
    LearnInterval(tick_.node, node);
}

/// The interval is the middle one of the first steps, so a few gaps and short steps do no harm. The first step of a run
/// is a short one.
void EnergyBook::LearnInterval(const std::string& name, Node& node) {
  std::vector<std::chrono::milliseconds> lengths;
  const bool has_only_first = std::ranges::all_of(node.steps, &Step::is_first);
  for (const Step& step : node.steps)
    if (!step.is_first || has_only_first) lengths.push_back(step.to - step.from);
  if (lengths.empty()) return;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  node.interval = *middle;
  for (const Step& step : node.steps) CheckStep(name, node, step);
  node.steps.clear();
}

void EnergyBook::CheckStep(const std::string& name, Node& node, const Step& step) {
  const auto length = step.to - step.from;
  const bool is_counted = !options_.from || step.to > *options_.from;
  if (is_counted && length > node.interval * kMaxIntervals)
    report_.gaps.push_back({.node = name, .from = step.from, .to = step.to});
  constexpr int kSmooth = 8;
  node.interval += (std::min(length, node.interval * 2) - node.interval) / kSmooth;
}

/// The parts of the period, at its ends, that a node has no ticks for.
void EnergyBook::FindMissingEnds(const std::string& name, const Node& node) {
  const auto put = [&](Milliseconds from, Milliseconds to) {
    if (to - from > node.interval * kMaxIntervals) report_.downtimes.push_back({.node = name, .from = from, .to = to});
  };
  if (!node.is_counted && options_.from && options_.to) return put(*options_.from, *options_.to);
  if (!node.is_counted) return;
  if (options_.from) put(*options_.from, node.first);
  if (options_.to) put(node.last, *options_.to);
}

}  // namespace kepler::report
