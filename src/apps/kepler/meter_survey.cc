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
  auto meter = source ? std::make_unique<energy::Meter>(*std::move(source), clock) : nullptr;
  const Status opened = meter ? meter->Open() : Status(std::unexpected(source.error()));
  if (!opened) {
    JudgeUnreadable(survey.report, is_present.value_or(opened.error().kind != ErrorKind::kNotFound), opened.error());
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

}  // namespace

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
  return meters;
}

}  // namespace kepler::agent
