#include "report/intensity.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/parse.h"
#include "base/parse_time.h"

namespace kepler::report {
namespace {

constexpr std::string_view kHeader = "time,g_per_kwh";

std::unexpected<Error> InLine(size_t line, std::string_view why) {
  return Fail(ErrorKind::kMalformed, fmt::format("line {}: {}", line, why));
}

}  // namespace

Result<Intensity> Intensity::Read(std::string_view csv) {
  Intensity intensity;
  if (csv.starts_with(kByteOrderMark)) csv.remove_prefix(kByteOrderMark.size());
  Splitter lines(csv, '\n');
  const auto header = lines.Next();
  if (header && Trim(*header) == "time;g_per_kwh") return InLine(1, "the columns must be separated by ',', not by ';'");
  if (!header || Trim(*header) != kHeader) return InLine(1, fmt::format("the header must be '{}'", kHeader));
  for (size_t number = 2; const auto text = lines.Next(); ++number) {
    const std::string_view line = Trim(*text);
    if (line.empty()) continue;
    const size_t comma = line.find(',');
    if (comma == std::string_view::npos) return InLine(number, "there must be two columns");
    const auto time = ParseTime(line.substr(0, comma));
    if (!time) return InLine(number, "time " + time.error().message);
    const auto grams = ParseNumber<double>(line.substr(comma + 1));
    if (!grams || !(*grams >= 0 && *grams <= kMaxGramsPerKwh))
      return InLine(number, fmt::format("g_per_kwh must be a number from 0 to {}", kMaxGramsPerKwh));
    intensity.points_.emplace_back(Milliseconds(std::chrono::milliseconds(std::llround(*time * 1e3))), *grams);
  }
  if (intensity.points_.empty()) return InLine(2, "there is no value");
  std::ranges::sort(intensity.points_);
  const auto twice = std::ranges::adjacent_find(intensity.points_, {}, [](const auto& point) { return point.first; });
  if (twice != intensity.points_.end() && twice->second != std::next(twice)->second)
    return Fail(ErrorKind::kMalformed, fmt::format("the time {:%FT%TZ} has two values, {} and {}", twice->first,
                                                   twice->second, std::next(twice)->second));
  return intensity;
}

Milliseconds Intensity::End() const {
  if (points_.size() < 2) return Milliseconds::max();
  std::chrono::milliseconds longest{0};
  for (size_t i = 1; i < points_.size(); ++i) longest = std::max(longest, points_[i].first - points_[i - 1].first);
  return points_.back().first + longest;
}

double Intensity::Mean(Milliseconds from, Milliseconds to) const {
  if (points_.empty()) return 0;
  auto next = std::ranges::upper_bound(points_, from, {}, [](const auto& point) { return point.first; });
  const auto value = [&] { return next == points_.begin() ? next->second : std::prev(next)->second; };
  double sum = 0;
  for (Milliseconds begin = from; begin < to;) {
    const Milliseconds end = next == points_.end() ? to : std::min(next->first, to);
    sum += value() * static_cast<double>((end - begin).count());
    begin = end;
    if (begin < to) ++next;
  }
  return from == to ? value() : sum / static_cast<double>((to - from).count());
}

}  // namespace kepler::report
