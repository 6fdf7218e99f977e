#include "apps/kepler/meter_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "export/stdout/text_table.h"
#include "json/document.h"

namespace kepler::agent {
namespace {

bool Answers(const MeterReport& meter) {
  return std::ranges::any_of(meter.zones, [](const ReportedZone& zone) { return zone.is_known && !zone.is_part; });
}

/// Marks the first meter of `measures` that works. Returns false if none does.
bool ChooseFirst(std::vector<MeterReport>& meters, std::string_view measures) {
  const MeterReport* used = nullptr;
  for (MeterReport& meter : meters) {
    if (meter.measures != measures || meter.state != MeterState::kReady) continue;
    if (used != nullptr) {
      meter.reason = used->name + " has a higher preference";
      continue;
    }
    meter.state = MeterState::kUsed;
    used = &meter;
  }
  return used != nullptr;
}

std::string Seconds(const std::optional<Nanoseconds>& time) {
  return time ? fmt::format("{:.0f} s", std::chrono::duration<double>(*time).count()) : "-";
}

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

void JudgeOpen(MeterReport& meter, const Error* failure, bool has_moved) {
  if (!Answers(meter)) {
    JudgeUnreadable(meter, true,
                    failure != nullptr ? *failure : Error{ErrorKind::kUnavailable, "it gives no reading at present"});
    return;
  }
  if (!has_moved) {
    meter.state = MeterState::kSilent;
    meter.reason =
        "its readings do not advance from 0 W; check whether the machine supports this meter (in virtual machines, "
        "counters "
        "often read 0)";
    return;
  }
  meter.state = MeterState::kReady;
  if (failure != nullptr) meter.reason = "a part of it cannot be read: " + failure->message;
}

void ChooseMeters(std::vector<MeterReport>& meters, bool require_meter) {
  if (!ChooseFirst(meters, "cpu") && !require_meter)
    meters.push_back({.name = "model",
                      .measures = "cpu",
                      .state = MeterState::kUsed,
                      .reason = "no meter of the CPUs can be read, so a power model estimates their energy"});
  ChooseFirst(meters, "machine");
}

std::string MeterTable(const std::vector<MeterReport>& meters) {
  using console::Align;
  constexpr size_t kNameColumns = 40;
  constexpr size_t kPathColumns = 80;
  std::vector<std::vector<std::string>> rows;
  std::string reasons;
  for (const MeterReport& meter : meters) {
    const std::string name = meter.interface.empty() ? meter.name : fmt::format("{} ({})", meter.name, meter.interface);
    std::vector<std::string> row{name, meter.measures, std::string(ToString(meter.state)), "", "", "", ""};
    if (!meter.zones.empty()) row[6] = Seconds(meter.longest_interval);
    for (const ReportedZone& zone : meter.zones) {
      row[3] = console::Printable(zone.name, kNameColumns) + (zone.is_part ? " (part)" : "");
      row[4] = zone.is_known ? fmt::format("{:.2f}", zone.power.watts()) : "-";
      row[5] = console::Printable(zone.path, kPathColumns);
      rows.push_back(std::exchange(row, std::vector<std::string>(row.size())));
    }
    if (meter.zones.empty()) rows.push_back(std::move(row));
    if (!meter.reason.empty()) reasons += fmt::format("{}: {}\n", meter.name, EscapeControls(meter.reason));
  }
  return console::DrawTable({{"Meter", Align::kLeft},
                             {"Measures", Align::kLeft},
                             {"State", Align::kLeft},
                             {"Zone or sensor", Align::kLeft},
                             {"Watts", Align::kRight},
                             {"Path", Align::kLeft},
                             {"Wraps in", Align::kRight}},
                            rows) +
         reasons;
}

std::string MeterJson(const std::vector<MeterReport>& meters) {
  std::vector<std::string> objects;
  for (const MeterReport& meter : meters) {
    std::vector<std::string> zones;
    zones.reserve(meter.zones.size());
    for (const ReportedZone& zone : meter.zones)
      zones.push_back(fmt::format(R"({{"name":{},"path":{},"watts":{},"is_part":{}}})", json::Quote(zone.name),
                                  json::Quote(zone.path),
                                  zone.is_known ? fmt::format("{}", zone.power.watts()) : "null", zone.is_part));
    const std::string wrap = meter.longest_interval
                                 ? fmt::format("{}", std::chrono::duration<double>(*meter.longest_interval).count())
                                 : "null";
    const std::string interface = meter.interface.empty() ? "null" : json::Quote(meter.interface);
    objects.push_back(
        fmt::format(R"({{"name":{},"measures":{},"interface":{},"state":{},"reason":{},"wraps_in_seconds":{},)"
                    R"("zones":[{}]}})",
                    json::Quote(meter.name), json::Quote(meter.measures), interface, json::Quote(ToString(meter.state)),
                    json::Quote(meter.reason), wrap, fmt::join(zones, ",")));
  }
  return fmt::format("{{\"meters\":[{}]}}\n", fmt::join(objects, ","));
}

}  // namespace kepler::agent
