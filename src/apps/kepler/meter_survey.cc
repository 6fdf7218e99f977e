#include "apps/kepler/meter_survey.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "apps/kepler/platform_wiring.h"
#include "apps/kepler/wiring.h"
#include "energy/meter.h"
#include "energy/meter_choice.h"

namespace kepler::agent {
namespace {

/// More samples of a meter of the CPUs that does not advance: rapl needs them to change to another interface.
constexpr int kStillSamples = 4;

struct Survey {
  MeterReport report;
  std::unique_ptr<energy::Meter> meter;  // null if it cannot be read
  status::Resolution resolution{};       // of sensors that state none

  [[nodiscard]] bool stands_still() const {
    return report.measures == "cpu" && meter != nullptr && !meter->has_moved();
  }
};

/// `is_present`: whether the machine has it; empty: judged by the error.
Survey Open(MeterReport report, std::optional<bool> is_present, Result<std::unique_ptr<energy::EnergySource>> source,
            const Clock& clock) {
  Survey survey{std::move(report), nullptr, {}};
  const auto fail = [&](const Error& error) {
    JudgeUnreadable(survey.report, is_present.value_or(error.kind != ErrorKind::kNotFound), error);
  };
  if (!source) {
    fail(source.error());
    return survey;
  }
  auto meter = std::make_unique<energy::Meter>(*std::move(source), clock);
  if (const Status opened = meter->Open(); !opened) {
    fail(opened.error());
    return survey;
  }
  meter->Sample();
  survey.meter = std::move(meter);
  return survey;
}

void Report(Survey& survey) {
  if (survey.meter == nullptr) return;
  const energy::Meter& meter = *survey.meter;
  for (size_t z = 0; z < meter.zones().size(); ++z) {
    const status::Zone& zone = meter.zones()[z];
    const energy::ZoneDelta& delta = meter.deltas()[z];
    const bool is_stated = zone.resolution != status::Resolution{};
    survey.report.zones.push_back({zone.name, zone.path, delta.power, delta.fresh,
                                   zone.sensor.has_value() && !zone.sensor->whole,
                                   is_stated ? zone.resolution : survey.resolution});
  }
  JudgeOpen(survey.report, meter.status());
}

void AddZones(MeterReport& meter, const snapshot::Snapshot& snapshot, status::Domain domain) {
  for (size_t z = 0; z < std::min(snapshot.zones.size(), snapshot.node.size()); ++z) {
    const status::Zone& zone = snapshot.zones[z];
    if (zone.source != meter.name || zone.domain != domain) continue;
    meter.zones.push_back(
        {zone.name, zone.path, snapshot.node[z].power, snapshot.node[z].fresh, false, zone.resolution});
  }
}

/// Returns true if one of them counts in the total of the machine.
bool AddSensors(MeterReport& meter, const snapshot::Snapshot& snapshot, const status::Resolution& resolution) {
  bool counts = false;
  for (const status::PlatformReading& reading : snapshot.platform) {
    if (reading.source != meter.name) continue;
    const status::PlatformSensor& sensor = reading.sensor;
    const bool is_stated = reading.resolution != status::Resolution{};
    meter.zones.push_back({sensor.source_name.empty() ? sensor.source_id : sensor.source_name, sensor.source_id,
                           reading.power, reading.fresh, !sensor.whole, is_stated ? reading.resolution : resolution});
    counts |= reading.is_counted;
  }
  return counts;
}

/// A meter that the agent has opened, or tried to.
void JudgeRunning(MeterReport& meter, const status::SourceStatus& status, bool is_used) {
  if (status.restart_needed) {
    meter.state = MeterState::kReady;
    meter.reason = "it is available only since the agent runs; restart the agent to use it";
  } else if (!meter.zones.empty()) {
    JudgeOpen(meter, status);
    if (is_used && meter.state == MeterState::kReady) meter.state = MeterState::kUsed;
  } else {
    const Error error = status.problem.value_or(Error{ErrorKind::kUnavailable, "it has not answered yet"});
    JudgeUnreadable(meter, meter.measures == "machine" || error.kind != ErrorKind::kNotFound, error);
  }
}

const status::SourceStatus* Find(const snapshot::Snapshot& snapshot, std::string_view name) {
  const auto found = std::ranges::find(snapshot.sources, name, &status::SourceStatus::name);
  return found == snapshot.sources.end() ? nullptr : &*found;
}

/// The agent has not tried a meter without a status, because one of higher preference works.
void ReportCpu(MeterReport& meter, const snapshot::Snapshot& snapshot) {
  meter.state = MeterState::kReady;
  AddZones(meter, snapshot, status::Domain::kCpu);
  if (const auto* status = Find(snapshot, meter.name)) JudgeRunning(meter, *status, true);
}

MeterReport ReportMachine(const BlockingMeter& blocking, const snapshot::Snapshot& snapshot, const Clock& clock) {
  MeterReport meter{.name = blocking.name, .measures = "machine", .period = blocking.period};
  if (const auto* status = Find(snapshot, meter.name)) {
    const bool counts = AddSensors(meter, snapshot, blocking.resolution);
    JudgeRunning(meter, *status, counts);
    return meter;
  }
  if (!blocking.is_present()) return std::move(Open(std::move(meter), false, blocking.make(), clock).report);
  JudgeUnreadable(meter, true, {ErrorKind::kUnavailable, "it has not answered yet"});
  return meter;
}

/// As energy::UseOf() decides in the agent.
bool NeedsEstimateOfMachine(const std::vector<MeterReport>& meters) {
  const auto find = [&](std::string_view measures) {
    return std::ranges::find_if(
        meters, [&](const MeterReport& m) { return m.measures == measures && m.state == MeterState::kUsed; });
  };
  const auto cpu = find("cpu");
  if (find("machine") != meters.end() || cpu == meters.end()) return false;
  if (cpu->name == "model") return true;
  std::vector<status::Zone> zones;
  for (const ReportedZone& zone : cpu->zones) zones.push_back({.name = zone.name, .path = {}, .source = {}});
  const energy::CpuFacts facts = energy::FactsOf(zones);
  return facts.has_package && !facts.has_platform;
}

}  // namespace

std::vector<MeterReport> ReportMeters(const Config& config, const snapshot::Snapshot& snapshot, const Clock& clock) {
  std::vector<MeterReport> meters;
  const auto proc_stat = std::make_shared<os::ProcStatReader>(config.host.procfs, clock);
  for (const auto& source : MakeCpuSources(config, clock, proc_stat)) {
    meters.push_back({.name = std::string(source->Name()), .measures = "cpu", .period = config.freshness.interval});
    ReportCpu(meters.back(), snapshot);
  }
  for (const BlockingMeter& blocking : MakeBlockingMeters(config))
    meters.push_back(ReportMachine(blocking, snapshot, clock));
  for (const auto domain : {status::Domain::kCpu, status::Domain::kPlatform}) {
    MeterReport model = ModelInUse(domain);
    model.period = config.freshness.interval;
    AddZones(model, snapshot, domain);
    if (!model.zones.empty()) meters.push_back(std::move(model));
  }
  ChooseMeters(meters, config.require_meter);
  return meters;
}

std::vector<MeterReport> SurveyMeters(const Config& config, const Clock& clock, Nanoseconds pause) {
  std::vector<Survey> surveys;
  const auto proc_stat = std::make_shared<os::ProcStatReader>(config.host.procfs, clock);
  for (auto& source : MakeCpuSources(config, clock, proc_stat)) {
    std::string name(source->Name());
    surveys.push_back(Open({.name = std::move(name), .measures = "cpu", .period = config.freshness.interval},
                           std::nullopt, std::move(source), clock));
  }
  for (const BlockingMeter& meter : MakeBlockingMeters(config)) {
    surveys.push_back(Open({.name = meter.name, .measures = "machine", .period = meter.period}, meter.is_present(),
                           meter.make(), clock));
    surveys.back().resolution = meter.resolution;
  }
  std::this_thread::sleep_for(pause);
  for (Survey& survey : surveys)
    if (survey.meter != nullptr) survey.meter->Sample();
  for (int more = 0; more < kStillSamples && std::ranges::any_of(surveys, &Survey::stands_still); ++more) {
    std::this_thread::sleep_for(pause / kStillSamples);
    for (Survey& survey : surveys)
      if (survey.stands_still()) survey.meter->Sample();
  }
  std::vector<MeterReport> meters;
  for (Survey& survey : surveys) {
    Report(survey);
    meters.push_back(std::move(survey.report));
  }
  ChooseMeters(meters, config.require_meter);
  if (config.model_platform && !config.require_meter && NeedsEstimateOfMachine(meters))
    meters.push_back(ModelInUse(status::Domain::kPlatform));
  return meters;
}

}  // namespace kepler::agent
