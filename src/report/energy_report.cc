#include "report/energy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kepler::report {

void AddTo(const Amount& from, Amount& to) {
  to.energy += from.energy;
  to.grams += from.grams;
  to.bins.resize(std::max(to.bins.size(), from.bins.size()));
  for (size_t i = 0; i < from.bins.size(); ++i) to.bins[i] += from.bins[i];
}

std::string_view ToString(By by) {
  constexpr std::array<std::string_view, 9> kNames = {"namespace", "owner",   "pod",  "container", "vm",
                                                      "project",   "process", "user", "node"};
  return kNames.at(static_cast<size_t>(by));
}

std::string_view LevelOf(By by) { return ToString(by == By::kProject ? By::kVm : by); }

std::string CountText(size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

double KwhOf(Energy energy) {
  constexpr double kJoulesPerKwh = 3.6e6;
  return energy.ToJoules() / kJoulesPerKwh;
}

void KeepLargest(size_t max, Report& report) {
  if (report.rows.size() <= max) return;
  Row others{.name = CountText(report.rows.size() - max, "other"), .amount = {}};
  for (size_t i = max; i < report.rows.size(); ++i) AddTo(report.rows[i].amount, others.amount);
  report.rows.resize(max);
  report.rows.push_back(std::move(others));
}

}  // namespace kepler::report
