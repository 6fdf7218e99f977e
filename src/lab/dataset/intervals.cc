#include "lab/dataset/intervals.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

namespace kepler::lab::dataset {
namespace {

using Samples = std::span<const Sample>;

/// Times with a smaller difference are equal, because servers round to milliseconds.
constexpr double kSameTime = 0.0005;

/// Returns the times at which the counters of a column change, in order.
std::vector<double> MovesOf(std::span<const Counter> counters, size_t column) {
  std::vector<double> moves;
  for (const Counter& counter : counters) {
    if (!counter.is_energy || counter.column != column) continue;
    const Samples samples = counter.series->samples;
    for (size_t i = 1; i < samples.size(); ++i)
      if (samples[i].value != samples[i - 1].value) moves.push_back(samples[i].time);
  }
  std::ranges::sort(moves);
  const auto same = [](double a, double b) { return b - a < kSameTime; };
  moves.erase(std::unique(moves.begin(), moves.end(), same), moves.end());
  return moves;
}

double MedianStep(std::span<const double> times) {
  std::vector<double> steps;
  for (size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle);
  return *middle;
}

/// Interpolates linearly between the two neighbouring samples, if they are at most `longest` apart.
std::optional<double> ValueAt(Samples samples, double time, double longest) {
  const auto next = std::ranges::lower_bound(samples, time - kSameTime, {}, &Sample::time);
  if (next == samples.end()) return std::nullopt;
  if (next->time - time < kSameTime) return next->value;
  if (next == samples.begin()) return std::nullopt;
  const Sample& before = *std::prev(next);
  if (next->time - before.time > longest) return std::nullopt;
  return before.value + (next->value - before.value) * (time - before.time) / (next->time - before.time);
}

struct Increase {
  double value = 0;
  bool from_zero = false;  // the counter did not exist before
};

/// Returns the increase of a counter from `begin` to `end`. For a gauge: its value at the end, for each second.
std::optional<Increase> IncreaseOf(const Counter& counter, double begin, double end, double longest) {
  const Samples samples = counter.series->samples;
  if (counter.is_gauge) {
    const auto value = ValueAt(samples, end, longest);
    return value ? std::optional(Increase{.value = *value * (end - begin)}) : std::nullopt;
  }
  auto from = ValueAt(samples, begin, longest);
  auto to = ValueAt(samples, end, longest);
  const bool is_new = counter.comes_and_goes && !from && samples.front().time > begin;
  if (is_new) from = 0;
  if (counter.comes_and_goes && !to && samples.back().time < end) to = samples.back().value;
  if (!from || !to) return std::nullopt;
  return Increase{.value = std::max(*to - *from, 0.0), .from_zero = is_new};
}

/// Returns the intervals that overlap [begin, end]: the index of the first one, and the index after the last one.
std::pair<size_t, size_t> Touched(std::span<const double> times, double begin, double end) {
  const auto first = std::ranges::upper_bound(times, begin) - times.begin();
  const auto last = std::ranges::lower_bound(times, end) - times.begin();
  const auto most = static_cast<std::ptrdiff_t>(times.size()) - 1;
  return {static_cast<size_t>(std::max<std::ptrdiff_t>(first - 1, 0)),
          static_cast<size_t>(std::clamp<std::ptrdiff_t>(last, 0, most))};
}

void MarkResets(Samples samples, std::span<const double> times, std::vector<Interval>& intervals) {
  for (size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].value >= samples[i - 1].value) continue;
    const auto [first, last] = Touched(times, samples[i - 1].time, samples[i].time);
    for (size_t k = first; k < last; ++k) intervals[k].has_reset = true;
  }
}

/// The sum of the counters of one column.
struct Sum {
  std::vector<double> rates;
  std::vector<uint32_t> parts;   // number of parts with a value
  std::vector<double> appeared;  // the largest rate of a counter that has just appeared; not in `rates` yet
  std::vector<double> appeared_sum;
  std::vector<bool> broken;                                      // a counter has no value between two of its samples
  std::map<std::string, std::vector<bool>, std::less<>> spoken;  // intervals with a value, by permanent part
  bool comes_and_goes = false;
};

void AddTo(Sum& sum, const Counter& counter, std::span<const double> times, double longest) {
  const Samples samples = counter.series->samples;
  // A counter that appears at the end of an interval has counted in this interval.
  const auto [first, last] = Touched(times, samples.front().time - kSameTime, samples.back().time + kSameTime);
  std::vector<bool>* const spoken = counter.comes_and_goes ? nullptr : &sum.spoken[counter.part];
  if (spoken != nullptr) spoken->resize(sum.rates.size());
  for (size_t k = first; k < last; ++k) {
    if (spoken != nullptr && (*spoken)[k]) continue;  // the previous agent of the node has this interval
    const auto increase = IncreaseOf(counter, times[k], times[k + 1], longest);
    if (!increase) {
      sum.broken[k] = sum.broken[k] || counter.comes_and_goes;
      continue;
    }
    const double rate = increase->value * counter.scale / (times[k + 1] - times[k]);
    if (increase->from_zero) {
      sum.appeared[k] = std::max(sum.appeared[k], rate);
      sum.appeared_sum[k] += rate;
    } else {
      sum.rates[k] += rate;
    }
    if (spoken != nullptr) (*spoken)[k] = true;
    ++sum.parts[k];
  }
  sum.comes_and_goes = counter.comes_and_goes;
}

/// A counter that appears counts from 0, unless it is older and only its labels are new. Such a counter exceeds the
/// maximum rate that the node has shown.
void AddAppeared(Sum& sum) {
  constexpr double kMaxOfMax = 2;
  const double limit = kMaxOfMax * std::ranges::max(sum.rates);
  for (size_t k = 0; k < sum.rates.size(); ++k) {
    if (sum.appeared[k] > limit) sum.broken[k] = true;
    sum.rates[k] += sum.appeared_sum[k];
  }
}

/// An interval is complete if all permanent parts have a value.
void LeaveOutIncomplete(Sum& sum) {
  const uint32_t most = sum.comes_and_goes ? 1 : std::max(1U, std::ranges::max(sum.parts));
  for (size_t k = 0; k < sum.rates.size(); ++k)
    if (sum.parts[k] < most || sum.broken[k] || !std::isfinite(sum.rates[k])) sum.rates[k] = kNothing;
}

}  // namespace

Timing TimesOf(std::span<const Counter> counters) {
  Timing timing;
  std::map<size_t, bool> seen;
  for (const Counter& counter : counters) {
    if (!counter.is_energy || counter.may_rest || !seen.try_emplace(counter.column, true).second) continue;
    std::vector<double> moves = MovesOf(counters, counter.column);
    if (moves.size() < 2) continue;
    const double step = MedianStep(moves);
    timing.fastest = timing.fastest == 0 ? step : std::min(timing.fastest, step);
    if (step > timing.usual || (step == timing.usual && moves.size() > timing.times.size())) {
      timing.times = std::move(moves);
      timing.usual = step;
      timing.column = counter.column;
    }
  }
  return timing;
}

std::vector<RareEnergy> RareEnergiesOf(std::span<const Counter> counters) {
  constexpr size_t kFarFewer = 20;
  std::map<size_t, size_t> moves;
  size_t most = 0;
  for (const Counter& counter : counters) {
    if (!counter.is_energy || counter.may_rest || moves.contains(counter.column)) continue;
    const size_t count = moves[counter.column] = MovesOf(counters, counter.column).size();
    most = std::max(most, count);
  }
  std::vector<RareEnergy> rare;
  for (const auto& [column, count] : moves)
    if (count * kFarFewer < most) rare.push_back({.column = column, .moves = count, .most = most});
  return rare;
}

Rates RatesOf(std::span<const Counter> counters, size_t columns, std::span<const double> times, double longest) {
  const size_t count = times.size() - 1;
  Rates rates{.intervals = std::vector<Interval>(count),
              .columns = std::vector<std::vector<double>>(columns, std::vector<double>(count, kNothing))};
  for (size_t k = 0; k < count; ++k) rates.intervals[k].is_gap = times[k + 1] - times[k] > longest;
  std::map<size_t, Sum> sums;
  for (const Counter& counter : counters) {
    const auto [sum, is_new] = sums.try_emplace(counter.column);
    if (is_new)
      sum->second = {.rates = std::vector<double>(count),
                     .parts = std::vector<uint32_t>(count),
                     .appeared = std::vector<double>(count),
                     .appeared_sum = std::vector<double>(count),
                     .broken = std::vector<bool>(count),
                     .spoken = {}};
    if (!counter.is_gauge) MarkResets(counter.series->samples, times, rates.intervals);
    AddTo(sum->second, counter, times, longest);
  }
  for (auto& [column, sum] : sums) {
    AddAppeared(sum);
    LeaveOutIncomplete(sum);
    rates.columns[column] = std::move(sum.rates);
  }
  return rates;
}

}  // namespace kepler::lab::dataset
