#include "apps/kepler/meter_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/text.h"
#include "export/stdout/text_table.h"
#include "json/document.h"
#include "status/zone_origin.h"

namespace kepler::agent {
namespace {

bool Answers(const MeterReport& meter) {
  return std::ranges::any_of(meter.zones, [](const ReportedZone& zone) { return zone.is_known && !zone.is_part; });
}

/// Marks the first meter of `measures` that works, unless one is marked. Returns false if none works.
bool ChooseFirst(std::vector<MeterReport>& meters, std::string_view measures) {
  const auto find = [&](MeterState state) {
    return std::ranges::find_if(meters,
                                [&](const MeterReport& m) { return m.measures == measures && m.state == state; });
  };
  auto used = find(MeterState::kUsed);
  if (used == meters.end()) used = find(MeterState::kReady);
  if (used == meters.end()) return false;
  used->state = MeterState::kUsed;
  for (MeterReport& meter : meters)
    if (meter.measures == measures && meter.state == MeterState::kReady && meter.reason.empty())
      meter.reason = used->name + " has a higher preference";
  return true;
}

/// With the prefix that gives a number from 1 to 999, for values below 1000.
std::string WithPrefix(double value, std::string_view unit) {
  for (const std::string_view prefix : {"", "m", "µ", "n"}) {
    if (value >= 0.9995) return fmt::format("{:.3g} {}{}", value, prefix, unit);
    value *= 1000;
  }
  return fmt::format("{:.3g} p{}", value, unit);
}

std::string NumberOrNull(double value) { return value > 0 ? fmt::format("{}", value) : "null"; }

}  // namespace

std::string_view ToString(MeterState state) {
  switch (state) {
    case MeterState::kUsed:
      return "used";
    case MeterState::kReady:
      return "ready";
    case MeterState::kSilent:
      return "silent";
    case MeterState::kDenied:
      return "denied";
    case MeterState::kMissing:
      break;
  }
  return "missing";
}

void JudgeUnreadable(MeterReport& meter, bool is_present, const Error& error) {
  meter.reason = error.message;
  if (error.kind == ErrorKind::kPermission)
    meter.state = MeterState::kDenied;
  else
    meter.state = is_present ? MeterState::kSilent : MeterState::kMissing;
}

void JudgeOpen(MeterReport& meter, const status::SourceStatus& status) {
  meter.interface = status.interface;
  meter.longest_interval = status.longest_interval;
  if (!Answers(meter)) {
    const Error nothing{ErrorKind::kUnavailable,
                        status.doubt.empty() ? "it gives no reading at present" : status.doubt};
    return JudgeUnreadable(meter, true, status.problem.value_or(nothing));
  }
  if (!status.has_moved) {
    meter.state = MeterState::kSilent;
    meter.reason =
        "all its readings are 0 W; check whether the machine supports this meter (in virtual machines, "
        "counters often read 0)";
    return;
  }
  meter.state = MeterState::kReady;
  meter.reason = status.problem ? "a part of it cannot be read: " + status.problem->message : status.doubt;
}

MeterReport ModelInUse(status::Domain domain) {
  return {.name = "model",
          .measures = domain == status::Domain::kPlatform ? "machine" : "cpu",
          .state = MeterState::kUsed,
          .reason = std::string(status::WhyEstimated(domain))};
}

void ChooseMeters(std::vector<MeterReport>& meters, bool require_meter) {
  if (!ChooseFirst(meters, "cpu") && !require_meter) meters.push_back(ModelInUse(status::Domain::kCpu));
  ChooseFirst(meters, "machine");
}

std::string ToText(const status::Resolution& resolution) {
  if (resolution.joules > 0) return WithPrefix(resolution.joules, "J");
  return resolution.watts > 0 ? WithPrefix(resolution.watts, "W") : "-";
}

MeterRows ToRows(const std::vector<MeterReport>& meters, size_t max_zones) {
  MeterRows all;
  for (const MeterReport& meter : meters) {
    MeterRow row{meter.interface.empty() ? meter.name : fmt::format("{} ({})", meter.name, meter.interface),
                 meter.measures, std::string(ToString(meter.state))};
    if (!meter.zones.empty()) {
      row[6] = meter.period > Nanoseconds::zero() ? fmt::format("{:g} s", ToSeconds(meter.period)) : "demand";
      row[7] = meter.longest_interval ? fmt::format("{:.0f} s", ToSeconds(*meter.longest_interval)) : "-";
    }
    const size_t shown = std::min(meter.zones.size(), max_zones);
    for (const ReportedZone& zone : std::span(meter.zones).first(shown)) {
      row[3] = zone.name + (zone.is_part ? " (part)" : "");
      row[4] = zone.is_known ? fmt::format("{:.2f}", zone.power.watts()) : "-";
      row[5] = ToText(zone.resolution);
      row[8] = zone.path;
      all.rows.push_back(std::exchange(row, {}));
    }
    if (shown < meter.zones.size()) row[3] = fmt::format("and {} more", meter.zones.size() - shown);
    if (meter.zones.empty() || shown < meter.zones.size()) all.rows.push_back(std::move(row));
    if (!meter.reason.empty()) all.reasons.push_back(fmt::format("{}: {}", meter.name, meter.reason));
  }
  return all;
}

std::string MeterTable(const std::vector<MeterReport>& meters) {
  using console::Align;
  constexpr size_t kMaxCell = 80;
  const MeterRows shown = ToRows(meters, std::numeric_limits<size_t>::max());
  std::vector<console::Column> columns;
  columns.reserve(kMeterColumns);
  for (size_t c = 0; c < kMeterColumns; ++c)
    columns.push_back({std::string(kMeterHeaders.at(c)), c >= 4 && c <= 7 ? Align::kRight : Align::kLeft});
  std::vector<std::vector<std::string>> rows;
  for (const MeterRow& row : shown.rows)
    for (auto& cells = rows.emplace_back(); const std::string& cell : row)
      cells.push_back(console::Printable(cell, kMaxCell));
  std::string text = console::DrawTable(columns, rows);
  for (const std::string& reason : shown.reasons) text += EscapeControls(reason) + "\n";
  return text;
}

std::string MeterJson(const std::vector<MeterReport>& meters) {
  std::vector<std::string> objects;
  for (const MeterReport& meter : meters) {
    std::vector<std::string> zones;
    zones.reserve(meter.zones.size());
    for (const ReportedZone& zone : meter.zones)
      zones.push_back(
          fmt::format(R"({{"name":{},"path":{},"watts":{},"is_part":{},"resolution_joules":{},"resolution_watts":{}}})",
                      json::Quote(zone.name), json::Quote(zone.path),
                      zone.is_known ? fmt::format("{}", zone.power.watts()) : "null", zone.is_part,
                      NumberOrNull(zone.resolution.joules), NumberOrNull(zone.resolution.watts)));
    const std::string wrap = meter.longest_interval ? fmt::format("{}", ToSeconds(*meter.longest_interval)) : "null";
    const std::string interface = meter.interface.empty() ? "null" : json::Quote(meter.interface);
    objects.push_back(
        fmt::format(R"({{"name":{},"measures":{},"interface":{},"state":{},"reason":{},"period_seconds":{},)"
                    R"("wraps_in_seconds":{},"zones":[{}]}})",
                    json::Quote(meter.name), json::Quote(meter.measures), interface, json::Quote(ToString(meter.state)),
                    json::Quote(meter.reason), NumberOrNull(ToSeconds(meter.period)), wrap, fmt::join(zones, ",")));
  }
  return fmt::format("{{\"meters\":[{}]}}\n", fmt::join(objects, ","));
}

}  // namespace kepler::agent
