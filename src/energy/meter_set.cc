#include "energy/meter_set.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace kepler::energy {
namespace {

void Merge(status::SourceStatus& into, const status::SourceStatus& other) {
  into.up = into.up && other.up;
  into.last_success = std::max(into.last_success, other.last_success);
  into.rejected_readings += other.rejected_readings;
  into.rejected_energy += other.rejected_energy;
  into.resets += other.resets;
  into.failed_reads += other.failed_reads;
  into.unknown_wraps += other.unknown_wraps;
  into.restart_needed = into.restart_needed || other.restart_needed;
}

void LogChange(const Meter& former, const Meter& next) {
  if (next.authority() < former.authority())
    return log::Info("energy meter is available, using it instead of a less reliable source",
                     {{"meter", next.status().name}, {"instead_of", former.status().name}});
  log::Warn("energy meter is unavailable, using a less reliable source",
            {{"meter", former.status().name}, {"instead", next.status().name}});
}

}  // namespace

size_t SelectPrimaryZone(std::span<const status::Zone> zones) {
  constexpr std::array<std::string_view, 16> kOrder = {
      "psys", "package", "socket",     "cpu",      "core", "dram",     "uncore", "ppt",
      "ppt0", "ppt1",    "core_power", "io_power", "soc",  "platform", "gpu",    "vddgfx"};
  for (const std::string_view wanted : kOrder) {
    const auto found =
        std::ranges::find_if(zones, [&](const status::Zone& zone) { return ToLowerAscii(zone.name) == wanted; });
    if (found != zones.end()) return static_cast<size_t>(found - zones.begin());
  }
  return 0;
}

MeterSet::MeterSet(std::unique_ptr<MeterSelector> cpu, const Clock& clock) : cpu_(std::move(cpu)), clock_(clock) {
  Gather();
}

Status MeterSet::Add(std::unique_ptr<EnergySource> source) {
  const std::string name(source->Name());
  const auto same = [&](const status::SourceStatus& known) { return known.name == name; };
  const auto waits = [&](const Other& other) { return other.meter->status().name == name; };
  if (std::ranges::any_of(status(), same) || std::ranges::any_of(others_, waits))
    return Fail(ErrorKind::kInvalid, "meter " + name + ": a meter of that name exists");
  return Insert(std::make_unique<Meter>(std::move(source), clock_), nullptr);
}

Status MeterSet::AddEstimate(std::unique_ptr<EstimateSource> source) {
  EstimateSource* const estimate = source.get();
  return Insert(std::make_unique<Meter>(std::move(source), clock_), estimate);
}

Status MeterSet::AddPlatform(std::unique_ptr<PlatformMeters> meters) {
  PlatformMeters* const platform = meters.get();
  KEPLER_CHECK_OK(Add(std::move(meters)));
  platform_ = platform;
  return {};
}

Status MeterSet::Insert(std::unique_ptr<Meter> meter, EstimateSource* estimate) {
  Other other;
  other.meter = std::move(meter);
  other.estimate = estimate;
  if (FindUse(other) == Use::kRefused)
    return Fail(ErrorKind::kInvalid, "meter " + other.meter->status().name + ": the CPUs already have a meter");
  others_.push_back(std::move(other));
  TryOpen(others_.back());
  UpdateCounting(others_.back());
  Gather();
  return {};
}

Use MeterSet::FindUse(const Other& other) const {
  const auto is_of_load = [](const EstimateSource* estimate) { return estimate != nullptr && estimate->only_load(); };
  CpuFacts cpu = FactsOf(cpu_->current().zones());
  cpu.only_load = is_of_load(cpu_->estimate());
  cpu.replacement_only_load = cpu_->replacement() != nullptr ? is_of_load(cpu_->replacement()) : cpu.only_load;
  return UseOf({other.meter->domain(), other.meter->authority(), is_of_load(other.estimate), other.is_open()}, cpu,
               Answering(other.meter->domain()));
}

void MeterSet::TryOpen(Other& other) {
  if (FindUse(other) != Use::kCounted) return;
  const Status opened = other.meter->Open();
  other.state = opened ? State::kStandby : State::kFailed;
  other.answered_at = clock_.Now();
  if (opened) return other.meter->Announce();
  if (opened.error().kind == ErrorKind::kUnavailable) return;  // it has not answered yet
  const std::string& name = other.meter->status().name;
  limiter_.Say(log::Level::kWarn, name, clock_.Now(), "failed to open a meter; it is retried",
               {{"meter", name}, {"err", opened.error().message}});
}

void MeterSet::Sample() {
  cpu_->Sample();
  SampleOthers();
  for (Other& other : others_) UpdateCounting(other);
  Gather();
}

void MeterSet::SampleOthers() {
  const MeasuredParts measured = PackageAndDram();
  for (Other& other : others_) {
    if (!other.is_open()) {
      TryOpen(other);
      continue;
    }
    if (other.estimate != nullptr) other.estimate->UseAtLeast(measured);
    if (other.counts()) other.counted_until = other.meter->counted_until();
    other.read_from = other.meter->counted_until();
    other.is_baseline = false;
    other.meter->Sample();
    if (other.meter->status().up) other.answered_at = clock_.Now();
  }
  if (platform_ != nullptr) CompareWithPlatform(measured);
}

/// An estimate of the CPUs is no part of a measured total.
void MeterSet::CompareWithPlatform(const MeasuredParts& measured) {
  const Meter& cpu = cpu_->current();
  if (cpu.authority() != Authority::kMeasured || !FactsOf(cpu.zones()).has_package) return;
  other_energy_.AddParts(measured[0].energy + measured[1].energy, cpu.taken_at());
  const auto before = std::exchange(platform_before_, platform_->total());
  const PlatformMeters::Total& now = platform_before_;
  if (now.until != before.until)
    other_energy_.AddPlatform(now.energy - before.energy, now.until, now.gaps == before.gaps);
}

/// Starts to count a source in standby, if it may count. Sources of another authority stop only after the source gives
/// energy. Until then they cover the domain.
void MeterSet::UpdateCounting(Other& next) {
  if (next.state != State::kStandby || FindUse(next) != Use::kCounted) return;
  const bool gives_energy = std::ranges::any_of(next.meter->deltas(), &ZoneDelta::fresh);
  BootTime after{};
  for (Other& former : others_) {
    const Meter& meter = *former.meter;
    if (meter.domain() != next.meter->domain() || meter.authority() == next.meter->authority()) continue;
    if (former.counts() && !gives_energy) return;
    if (former.counts()) {
      LogChange(meter, *next.meter);
      former.state = State::kStandby;
    }
    after = std::max(after, former.counted_until);
  }
  Begin(next, after);
}

/// `after`: time up to which other sources counted the domain.
void MeterSet::Begin(Other& next, BootTime after) {
  if (next.meter->counted_until() < after) return;
  next.state = State::kCounting;
  next.has_counted = true;
  next.is_baseline = next.read_from < after;
}

bool MeterSet::Answers(const Other& other) const {
  return other.is_open() && clock_.Now() - other.answered_at < kMaxSilence;
}

std::optional<Authority> MeterSet::Answering(status::Domain domain) const {
  std::optional<Authority> highest;
  for (const Other& other : others_)
    if (other.meter->domain() == domain && Answers(other))
      highest = std::min(highest.value_or(other.meter->authority()), other.meter->authority());
  return highest;
}

/// Neither zone is a part of the other.
MeasuredParts MeterSet::PackageAndDram() const {
  const Meter& cpu = cpu_->current();
  MeasuredParts parts;
  for (size_t z = 0; z < cpu.deltas().size(); ++z) {
    const std::string name = ToLowerAscii(cpu.zones()[z].name);
    if (name != "package" && name != "dram") continue;
    const ZoneDelta& delta = cpu.deltas()[z];
    MeasuredPart& part = parts[name == "dram" ? 1 : 0];
    part.energy += delta.energy;
    part.only_load = delta.only_load;
    // After a first, reset or rejected reading, no later reading adds energy of this interval.
    const bool read = delta.fresh || delta.domains.read == delta.domains.known;
    part.complete = part.complete && read && !delta.unchanged;
  }
  return parts;
}

void MeterSet::Gather() {
  deltas_.clear();
  Append(cpu_->current(), true);
  for (const Other& other : others_)
    if (other.has_counted) Append(*other.meter, other.counts() && !other.is_baseline);
  zones_.resize(deltas_.size());
}

void MeterSet::Append(const Meter& meter, bool counts) {
  for (size_t z = 0; z < meter.zones().size(); ++z) {
    // A meter that was just opened has no sample yet.
    const ZoneDelta delta = z < meter.deltas().size() ? meter.deltas()[z] : ZoneDelta{};
    deltas_.push_back(counts ? delta : ZoneDelta{});
    deltas_.back().domains = delta.domains;
    if (zones_.size() < deltas_.size()) zones_.resize(deltas_.size());
    status::Zone& zone = zones_[deltas_.size() - 1];
    if (zone != meter.zones()[z]) zone = meter.zones()[z];
  }
}

size_t MeterSet::primary_zone() const { return SelectPrimaryZone(cpu_->current().zones()); }

std::vector<status::SourceStatus> MeterSet::status() const {
  std::vector<status::SourceStatus> all = cpu_->status();
  for (const Other& other : others_) {
    if (other.state == State::kUntried || other.meter->status().name == PlatformMeters::kName) continue;
    const status::SourceStatus& status = other.meter->status();
    const auto same = std::ranges::find(all, status.name, &status::SourceStatus::name);
    if (same == all.end())
      all.push_back(status);
    else
      Merge(*same, status);
  }
  if (platform_ != nullptr) platform_->AppendStatus(all);
  return all;
}

void MeterSet::ReadPlatform(std::vector<status::PlatformReading>& out) const {
  if (platform_ == nullptr) return out.clear();
  platform_->ReadSensors(out);
}

void MeterSet::ReadEstimates(std::vector<status::EstimateStatus>& out) const {
  out.clear();
  if (const auto* const estimate = cpu_->estimate()) out.push_back(estimate->estimate());
  for (const Other& other : others_)
    if (other.is_open() && other.estimate != nullptr) out.push_back(other.estimate->estimate());
}

}  // namespace kepler::energy
