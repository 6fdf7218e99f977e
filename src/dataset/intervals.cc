#include "dataset/intervals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace kepler::dataset {
namespace {

using Samples = std::span<const Sample>;

/// Times that are one and the same: servers round to milliseconds.
constexpr double kSameTime = 0.0005;

/// Where the counters of a column move, in order.
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

/// At a time between samples what lies on the line through its neighbours, which are no more than `longest` apart.
std::optional<double> ValueAt(Samples samples, double time, double longest) {
  const auto next = std::ranges::lower_bound(samples, time - kSameTime, {}, &Sample::time);
  if (next == samples.end()) return std::nullopt;
  if (next->time - time < kSameTime) return next->value;
  if (next == samples.begin()) return std::nullopt;
  const Sample& before = *std::prev(next);
  if (next->time - before.time > longest) return std::nullopt;
  return before.value + (next->value - before.value) * (time - before.time) / (next->time - before.time);
}

/// How much a counter went up from `begin` to `end`.
std::optional<double> IncreaseOf(const Counter& counter, double begin, double end, double longest) {
  const Samples samples = counter.series->samples;
  auto from = ValueAt(samples, begin, longest);
  auto to = ValueAt(samples, end, longest);
  if (counter.comes_and_goes && !from && samples.front().time > begin) from = 0;
  if (counter.comes_and_goes && !to && samples.back().time < end) to = samples.back().value;
  if (!from || !to) return std::nullopt;
  return *to - *from;
}

/// The intervals that [begin, end] has a part of: from the first to behind the last.
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

/// One column while it is summed up.
struct Sum {
  std::vector<double> rates;
  std::vector<uint32_t> counters;  // how many have said something
  std::vector<bool> broken;        // one had nothing to say in the middle of its life
  bool comes_and_goes = false;
};

void AddTo(Sum& sum, const Counter& counter, std::span<const double> times, double longest) {
  const Samples samples = counter.series->samples;
  // What appears at the end of an interval has counted in it.
  const auto [first, last] = Touched(times, samples.front().time - kSameTime, samples.back().time + kSameTime);
  for (size_t k = first; k < last; ++k) {
    const auto increase = IncreaseOf(counter, times[k], times[k + 1], longest);
    if (!increase) {
      sum.broken[k] = sum.broken[k] || counter.comes_and_goes;
      continue;
    }
    sum.rates[k] += std::max(*increase, 0.0) * counter.scale / (times[k + 1] - times[k]);
    ++sum.counters[k];
  }
  sum.comes_and_goes = counter.comes_and_goes;
}

/// Of what is there all the time, all counters must have spoken.
void LeaveOutIncomplete(Sum& sum) {
  const uint32_t most = sum.comes_and_goes ? 1 : std::max(1U, std::ranges::max(sum.counters));
  for (size_t k = 0; k < sum.rates.size(); ++k)
    if (sum.counters[k] < most || sum.broken[k] || !std::isfinite(sum.rates[k])) sum.rates[k] = kNothing;
}

}  // namespace

Timing TimesOf(std::span<const Counter> counters) {
  Timing timing;
  std::map<size_t, bool> seen;
  for (const Counter& counter : counters) {
    if (!counter.is_energy || !seen.try_emplace(counter.column, true).second) continue;
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
                     .counters = std::vector<uint32_t>(count),
                     .broken = std::vector<bool>(count)};
    MarkResets(counter.series->samples, times, rates.intervals);
    AddTo(sum->second, counter, times, longest);
  }
  for (auto& [column, sum] : sums) {
    LeaveOutIncomplete(sum);
    rates.columns[column] = std::move(sum.rates);
  }
  return rates;
}

}  // namespace kepler::dataset
