#include "apps/kepler/meter_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "apps/kepler/platform_wiring.h"
#include "apps/kepler/wiring.h"
#include "energy/meter.h"
#include "export/stdout/text_table.h"
#include "json/document.h"

namespace kepler::agent {
namespace {

struct Survey {
  SurveyedMeter report;
  std::unique_ptr<energy::Meter> meter;  // null if it cannot be read
};

Survey Open(std::string name, std::string measures, Result<std::unique_ptr<energy::EnergySource>> source,
            const Clock& clock) {
  Survey survey{{.name = std::move(name), .measures = std::move(measures)}, nullptr};
  if (!source) {
    survey.report.reason = source.error().message;
    return survey;
  }
  auto meter = std::make_unique<energy::Meter>(*std::move(source), clock);
  if (const Status opened = meter->Open(); !opened) {
    survey.report.reason = opened.error().message;
    return survey;
  }
  meter->Sample();
  survey.meter = std::move(meter);
  return survey;
}

void ReadAgain(Survey& survey) {
  if (survey.meter == nullptr) return;
  energy::Meter& meter = *survey.meter;
  meter.Sample();
  survey.report.state = MeterState::kReady;
  survey.report.interface = meter.status().interface;
  survey.report.longest_interval = meter.longest_interval();
  for (size_t z = 0; z < meter.zones().size(); ++z) {
    const status::Zone& zone = meter.zones()[z];
    const energy::ZoneDelta& delta = meter.deltas()[z];
    survey.report.zones.push_back(
        {zone.name, zone.path, delta.power, delta.fresh, zone.sensor.has_value() && !zone.sensor->whole});
  }
}

bool Answers(const SurveyedMeter& meter) {
  return std::ranges::any_of(meter.zones, [](const SurveyedZone& zone) { return zone.is_known && !zone.is_part; });
}

/// Marks the first meter of `measures` that answers. Returns false if none does.
bool ChooseFirst(std::vector<SurveyedMeter>& meters, std::string_view measures) {
  const SurveyedMeter* used = nullptr;
  for (SurveyedMeter& meter : meters) {
    if (meter.measures != measures || meter.state == MeterState::kMissing) continue;
    if (used != nullptr) {
      meter.reason = used->name + " has a higher preference";
    } else if (Answers(meter)) {
      meter.state = MeterState::kUsed;
      used = &meter;
    } else {
      meter.reason = "it gives no reading at present";
    }
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
    case MeterState::kMissing:
      break;
  }
  return "missing";
}

std::vector<SurveyedMeter> SurveyMeters(const Config& config, const Clock& clock, Nanoseconds pause) {
  std::vector<Survey> surveys;
  const auto proc_stat = std::make_shared<os::ProcStatReader>(config.host.procfs, clock);
  for (auto& source : MakeCpuSources(config, clock, proc_stat)) {
    std::string name(source->Name());
    surveys.push_back(Open(std::move(name), "cpu", std::move(source), clock));
  }
  for (const BlockingMeter& meter : MakeBlockingMeters(config))
    surveys.push_back(Open(meter.name, "machine", meter.make(), clock));
  std::this_thread::sleep_for(pause);
  std::vector<SurveyedMeter> meters;
  for (Survey& survey : surveys) {
    ReadAgain(survey);
    meters.push_back(std::move(survey.report));
  }
  if (!ChooseFirst(meters, "cpu") && !config.require_meter)
    meters.push_back({.name = "model",
                      .measures = "cpu",
                      .state = MeterState::kUsed,
                      .reason = "no meter of the CPUs can be read, so a power model estimates their energy"});
  ChooseFirst(meters, "machine");
  return meters;
}

std::string MeterTable(const std::vector<SurveyedMeter>& meters) {
  using console::Align;
  constexpr size_t kNameColumns = 40;
  constexpr size_t kPathColumns = 80;
  std::vector<std::vector<std::string>> rows;
  std::string reasons;
  for (const SurveyedMeter& meter : meters) {
    const std::string name = meter.interface.empty() ? meter.name : fmt::format("{} ({})", meter.name, meter.interface);
    std::vector<std::string> row{name, meter.measures, std::string(ToString(meter.state)), "", "", "", ""};
    if (!meter.zones.empty()) row[6] = Seconds(meter.longest_interval);
    for (const SurveyedZone& zone : meter.zones) {
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

std::string MeterJson(const std::vector<SurveyedMeter>& meters) {
  std::vector<std::string> objects;
  for (const SurveyedMeter& meter : meters) {
    std::vector<std::string> zones;
    zones.reserve(meter.zones.size());
    for (const SurveyedZone& zone : meter.zones)
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
