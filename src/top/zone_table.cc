#include "top/zone_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace kepler::top {
namespace {

constexpr size_t kZoneName = 9, kZoneFigure = 8;
// Minimum width of the screen for these columns.
constexpr size_t kZoneActive = 60, kZoneJoules = 50, kZoneCost = 70;
constexpr size_t kMinSpark = 8, kMaxSpark = 120;

struct ZoneRow {
  std::string name, watts, active, idle, joules, cost, carbon;
};

std::string ZoneLineOf(const ZoneRow& row, size_t width, const Look& look) {
  std::string line = Cell(row.name, kZoneName, Side::kLeft, look.glyphs);
  const auto add = [&](const std::string& text, bool wanted = true) {
    if (wanted) line += " " + Cell(text, kZoneFigure, Side::kRight, look.glyphs);
  };
  add(row.watts);
  add(row.active, width >= kZoneActive);
  add(row.idle);
  add(row.joules, width >= kZoneJoules);
  add(row.cost, look.price && width >= kZoneCost);
  add(row.carbon, look.carbon && width >= kZoneCost);
  return line;
}

ZoneRow ZoneRowOf(const ZoneReading& zone, const Look& look) {
  const double hours = KilowattHours(zone.joules);
  return {.name = zone.zone,
          .watts = WattsText(zone.watts),
          .active = WattsText(zone.active_watts),
          .idle = WattsText(zone.idle_watts),
          .joules = JoulesText(zone.joules),
          .cost = MoneyText(hours * look.price.value_or(0)),
          .carbon = CarbonText(hours * look.carbon.value_or(0))};
}

std::string SparkOf(const PowerHistory& history, const ZoneReading& zone, size_t width, const Look& look) {
  const auto found = std::ranges::find(history.zones, zone.zone, &ZoneHistory::zone);
  return found == history.zones.end() ? "" : Sparkline(found->watts, width, look.glyphs);
}

std::string SparkTitle(const PowerHistory& history, size_t width) {
  const size_t points = history.zones.empty() ? 0 : std::min(width, history.zones.front().watts.size());
  return points < 2 ? "" : "LAST " + TimeText(std::round(static_cast<double>(points) * history.step_seconds));
}

}  // namespace

std::vector<Line> ZoneLines(const Readings& readings, const PowerHistory& history, size_t width, size_t max_zones,
                            const Look& look) {
  std::vector<Line> lines;
  if (readings.zones.empty()) {
    lines.push_back({Cell("no meter:", std::min(width, size_t{80}), Side::kLeft, look.glyphs), Style::kAlert});
    for (size_t m = 0; m < readings.meters.size() && m < max_zones; ++m) {
      const MeterReading& meter = readings.meters[m];
      lines.push_back({Shown(fmt::format("{}: {} {}", meter.name, meter.state, meter.reason), width, look.glyphs)});
    }
    return lines;
  }
  const ZoneRow titles{.name = "ZONE",
                       .watts = "WATTS",
                       .active = "ACTIVE",
                       .idle = "IDLE",
                       .joules = "JOULES",
                       .cost = "COST",
                       .carbon = "CARBON"};
  std::string header = ZoneLineOf(titles, width, look);
  const size_t used = WidthOf(header) + 2;
  const size_t spark = width > used + kMinSpark ? std::min(width - used, kMaxSpark) : 0;
  header += "  " + Shown(SparkTitle(history, spark), spark, look.glyphs);
  lines.push_back({header, Style::kHeader});
  for (size_t z = 0; z < readings.zones.size() && z < max_zones; ++z)
    lines.push_back({ZoneLineOf(ZoneRowOf(readings.zones[z], look), width, look) + "  " +
                     SparkOf(history, readings.zones[z], spark, look)});
  return lines;
}

}  // namespace kepler::top
