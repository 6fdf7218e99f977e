#include "export/web/power_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <vector>

#include "export/web/html_text.h"

namespace kepler::web {
namespace {

constexpr int kWidth = 480;    // of the drawing, in its own units
constexpr int kBase = 150;     // y of 0 W
constexpr int kTop = 20;       // y of the maximum
constexpr size_t kBins = 240;  // of 15 seconds each

struct Bin {
  double active = 0;
  double idle = 0;
  int points = 0;
};

std::vector<Bin> BinsOf(const api::PowerHistory::Points& points, size_t column) {
  std::vector<Bin> bins(kBins);
  constexpr std::chrono::nanoseconds kPerBin = api::PowerHistory::kSpan / static_cast<int>(kBins);
  for (size_t p = 0; p < points.times.size(); ++p) {
    const size_t at = p * points.zones.size() + column;
    if (std::isnan(points.active[at])) continue;
    const auto age = static_cast<size_t>((points.times.back() - points.times[p]) / kPerBin);
    if (age >= kBins) continue;
    Bin& bin = bins[kBins - 1 - age];
    bin.active += static_cast<double>(points.active[at]);
    bin.idle += static_cast<double>(points.idle[at]);
    ++bin.points;
  }
  for (Bin& bin : bins) {
    bin.active /= std::max(bin.points, 1);
    bin.idle /= std::max(bin.points, 1);
  }
  return bins;
}

/// Areas under `value`. Bins that are further apart than `max_gap` are not joined.
template <class Value>
std::string Areas(const std::vector<Bin>& bins, size_t max_gap, double max, const Value& value) {
  std::string path;
  double last_x = 0;
  size_t last = kBins;  // no area is open
  const auto end_area = [&] {
    if (last != kBins) fmt::format_to(std::back_inserter(path), "V{}H{:.0f}Z", kBase, last_x);
  };
  double begin_x = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].points == 0) continue;
    const double x = static_cast<double>(i) * kWidth / kBins;
    const double y = kBase - value(bins[i]) / max * (kBase - kTop);
    if (last == kBins || i - last > max_gap) {
      last_x = begin_x;
      end_area();
      begin_x = x;
      fmt::format_to(std::back_inserter(path), "M{:.0f} {}", x, kBase);
    }
    fmt::format_to(std::back_inserter(path), "L{:.0f} {:.1f}H{:.0f}", x, y, x + 1.0 * kWidth / kBins);
    last = i;
  }
  last_x = begin_x;
  end_area();
  return path;
}

}  // namespace

std::string PowerChart(const api::PowerHistory::Points& points, size_t column) {
  const std::vector<Bin> bins = BinsOf(points, column);
  double max = 0;
  for (const Bin& bin : bins) max = std::max(max, bin.active + bin.idle);
  const double scale = max > 0 ? max : 1;
  const size_t max_gap = std::max<size_t>(2, static_cast<size_t>(3 * ToSeconds(points.step) * kBins / 3600));
  return fmt::format(
      "<svg id=\"chart\" viewBox=\"0 0 {0} 172\" role=\"img\" aria-label=\"Power in the last hour, maximum {1} W\">\n"
      "<path class=\"grid\" d=\"M0 {2}H{0}M0 {3}H{0}M0 {4}H{0}\"/>\n"
      "<path id=\"active\" class=\"active\" d=\"{5}\"/>\n<path id=\"idle\" class=\"idle\" d=\"{6}\"/>\n"
      "<text id=\"top\" x=\"4\" y=\"14\">{1} W</text>\n"
      "<text x=\"4\" y=\"167\">60 minutes ago</text><text x=\"{7}\" y=\"167\" text-anchor=\"middle\">30</text>"
      "<text x=\"{8}\" y=\"167\" text-anchor=\"end\">now</text>\n</svg>\n",
      kWidth, ShortNumber(max), kTop, (kTop + kBase) / 2, kBase,
      Areas(bins, max_gap, scale, [](const Bin& bin) { return bin.active + bin.idle; }),
      Areas(bins, max_gap, scale, [](const Bin& bin) { return bin.idle; }), kWidth / 2, kWidth - 4);
}

}  // namespace kepler::web
