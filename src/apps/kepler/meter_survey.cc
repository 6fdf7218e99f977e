#include "apps/kepler/meter_survey.h"

#include <algorithm>
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

  [[nodiscard]] bool stands_still() const {
    return report.measures == "cpu" && meter != nullptr && !meter->has_moved();
  }
};

/// `is_present`: whether the machine has it; unknown for a meter of the CPUs before it lists zones.
Survey Open(MeterReport report, bool is_present, Result<std::unique_ptr<energy::EnergySource>> source,
            const Clock& clock) {
  Survey survey{std::move(report), nullptr};
  if (!source) {
    JudgeUnreadable(survey.report, is_present, source.error());
    return survey;
  }
  auto meter = std::make_unique<energy::Meter>(*std::move(source), clock);
  if (const Status opened = meter->Open(); !opened) {
    JudgeUnreadable(survey.report, is_present || !meter->zones().empty(), opened.error());
    return survey;
  }
  meter->Sample();
  survey.meter = std::move(meter);
  return survey;
}

void Report(Survey& survey) {
  if (survey.meter == nullptr) return;
  const energy::Meter& meter = *survey.meter;
  survey.report.interface = meter.status().interface;
  survey.report.longest_interval = meter.longest_interval();
  for (size_t z = 0; z < meter.zones().size(); ++z) {
    const status::Zone& zone = meter.zones()[z];
    const energy::ZoneDelta& delta = meter.deltas()[z];
    survey.report.zones.push_back(
        {zone.name, zone.path, delta.power, delta.fresh, zone.sensor.has_value() && !zone.sensor->whole});
  }
  const auto& problem = meter.status().problem;
  JudgeOpen(survey.report, problem ? &*problem : nullptr, meter.has_moved());
}

}  // namespace

std::vector<MeterReport> SurveyMeters(const Config& config, const Clock& clock, Nanoseconds pause) {
  std::vector<Survey> surveys;
  const auto proc_stat = std::make_shared<os::ProcStatReader>(config.host.procfs, clock);
  for (auto& source : MakeCpuSources(config, clock, proc_stat)) {
    std::string name(source->Name());
    surveys.push_back(Open({.name = std::move(name), .measures = "cpu"}, false, std::move(source), clock));
  }
  for (const BlockingMeter& meter : MakeBlockingMeters(config))
    surveys.push_back(Open({.name = meter.name, .measures = "machine"}, meter.is_present(), meter.make(), clock));
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
