// Energy over time: every amount of a report has the same bins, which become wider and begin earlier as ticks come.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "report/energy_book.h"

namespace kepler::report {
namespace {

constexpr size_t kMaxBins = 96;
constexpr std::chrono::milliseconds kFirstBin = std::chrono::seconds(1);

}  // namespace

void EnergyBook::Put(Energy energy, Amount& amount) {
  if (energy == Energy()) return;
  amount.energy += energy;
  amount.grams += KwhOf(energy) * grams_per_kwh_;
  if (report_.bin_width.count() == 0) {
    report_.bin_width = kFirstBin;
    report_.bins_from = used_since_;
  }
  // Files of other nodes may begin earlier.
  while (used_since_ < report_.bins_from) PrependBins();
  const auto bin_of = [&](Milliseconds time) {
    return static_cast<size_t>((time - report_.bins_from) / report_.bin_width);
  };
  while (bin_of(tick_.time) >= kMaxBins) WidenBins();
  const size_t last = bin_of(tick_.time);
  if (amount.bins.size() <= last) amount.bins.resize(last + 1);
  // The energy was used evenly, as far as anybody knows; the last bin has what rounding leaves.
  Energy left = energy;
  for (size_t bin = bin_of(used_since_); bin < last; ++bin) {
    const Milliseconds begin = report_.bins_from + report_.bin_width * bin;
    const auto overlap = begin + report_.bin_width - std::max(begin, used_since_);
    const double share = static_cast<double>(overlap.count()) / static_cast<double>((tick_.time - used_since_).count());
    const auto part = Energy::Microjoules(std::llround(static_cast<double>(energy.microjoules()) * share));
    amount.bins[bin] += part;
    left = left - part;
  }
  amount.bins[last] += left;
}

void EnergyBook::ForEachAmount(const std::function<void(Amount&)>& change) {
  change(report_.total);
  for (Row& row : report_.rows) change(row.amount);
  for (Amount& amount : rest_) change(amount);
}

/// Moves the first bin to an earlier time, by the time of all bins.
void EnergyBook::PrependBins() {
  WidenBins();
  constexpr size_t kMore = kMaxBins / 2;
  report_.bins_from -= report_.bin_width * kMore;
  ForEachAmount(
      [](Amount& amount) { amount.bins.insert(amount.bins.begin(), amount.bins.empty() ? 0 : kMore, Energy()); });
}

void EnergyBook::WidenBins() {
  report_.bin_width *= 2;
  const auto widen = [](Amount& amount) {
    std::vector<Energy> wide((amount.bins.size() + 1) / 2);
    for (size_t i = 0; i < amount.bins.size(); ++i) wide[i / 2] += amount.bins[i];
    amount.bins = std::move(wide);
  };
  ForEachAmount(widen);
}

}  // namespace kepler::report
