#include "energy/platform_meters.h"

#include <algorithm>
#include <utility>

namespace kepler::energy {
namespace {

/// Time between two looks for meters that the machine does not have yet.
constexpr Nanoseconds kAppearPeriod = std::chrono::seconds(10);

/// Whether the zone measures the machine. A sensor that the latest search did not find does not.
bool IsWhole(const Meter& reader, size_t zone) {
  const auto& sensor = reader.zones()[zone].sensor;
  return sensor && sensor->whole && reader.IsListed(zone);
}

}  // namespace

PlatformMeters::PlatformMeters(std::vector<PlatformMeter> meters, const Clock& clock)
    : clock_(clock), reading_{BootTime{}, Error{ErrorKind::kUnavailable, "no platform meter has answered yet"}} {
  members_.resize(meters.size());
  for (size_t i = 0; i < meters.size(); ++i) {
    members_[i].meter = std::move(meters[i]);
    Appear(members_[i]);
  }
  searched_at_ = clock_.Now();
}

void PlatformMeters::Appear(Member& member) {
  if (member.reader != nullptr || !member.meter.is_present()) return;
  auto source = member.meter.make();
  if (!source) {
    limiter_.Say(log::Level::kWarn, member.meter.name, clock_.Now(), "failed to start a platform meter; it is retried",
                 {{"meter", member.meter.name}, {"err", source.error().message}});
    return;
  }
  member.reader = std::make_unique<Meter>(*std::move(source), clock_);
  member.answered_at = clock_.Now();
}

Result<std::vector<Domain>> PlatformMeters::Discover() {
  for (Member& member : members_) TryOpen(member);
  if (std::ranges::none_of(members_, &Member::open))
    return Fail(ErrorKind::kUnavailable, "no platform meter has answered yet");
  // No limit: each meter has its own.
  return std::vector<Domain>{{"platform", "meter", "platform", {}, Power::Watts(1e6), {}}};
}

void PlatformMeters::TryOpen(Member& member) {
  if (member.open || member.reader == nullptr) return;
  const Status opened = member.reader->Open();
  member.open = opened.has_value();
  if (opened) return member.reader->Announce();
  if (opened.error().kind == ErrorKind::kUnavailable && clock_.Now() - member.answered_at < kMaxSilence) return;
  member.reader->CountFailedOpen();
  limiter_.Say(log::Level::kWarn, member.meter.name, clock_.Now(), "failed to open a platform meter; it is retried",
               {{"meter", member.meter.name}, {"err", opened.error().message}});
}

void PlatformMeters::Read(std::vector<DomainReading>& out) {
  if (clock_.Now() - searched_at_ >= kAppearPeriod) {
    searched_at_ = clock_.Now();
    for (Member& member : members_) Appear(member);
  }
  for (Member& member : members_) {
    TryOpen(member);
    if (member.open) Sample(member);
  }
  for (size_t m = 0; m < members_.size(); ++m)
    if (chosen_ && m != *chosen_) Reserve(members_[m]);
  Choose();
  if (chosen_) Count(members_[*chosen_]);
  for (Member& member : members_)
    if (member.has_interval()) member.pending = Energy();
  out.assign(1, reading_);
}

void PlatformMeters::Sample(Member& member) {
  Meter& reader = *member.reader;
  member.counted_from = member.counted_until;
  reader.Sample();
  // Parts that answer say nothing about the machine.
  if (WholeOf(member).complete) member.answered_at = clock_.Now();
  // While a sensor is silent, nothing is counted: when it returns, it may know the energy of the gap.
  member.counted_until = CountedUntil(reader);
  if (member.counted_until == BootTime{}) member.pending = Energy();  // no sensor measures the machine
  member.pending += WholeOf(member).energy;
  // It was not the machine until now. What its sensors count from before is of time that another meter may have
  // counted.
  if (member.counted_from == BootTime{}) member.pending = Energy();
  member.totals.resize(reader.zones().size());
  for (size_t z = 0; z < reader.deltas().size(); ++z) member.totals[z] += reader.deltas()[z].energy;
}

/// Time up to which all sensors are counted that measure the machine as a whole; epoch if none is.
BootTime PlatformMeters::CountedUntil(const Meter& reader) {
  std::optional<BootTime> until;
  for (size_t z = 0; z < reader.zones().size(); ++z) {
    const BootTime of_zone = IsWhole(reader, z) ? reader.CountedUntil(z) : BootTime{};
    if (of_zone != BootTime{}) until = std::min(until.value_or(of_zone), of_zone);
  }
  return until.value_or(BootTime{});
}

/// Time up to which any of these sensors is counted; epoch if none is.
BootTime PlatformMeters::LatestCounted(const Meter& reader) {
  BootTime latest{};
  for (size_t z = 0; z < reader.zones().size(); ++z)
    if (IsWhole(reader, z)) latest = std::max(latest, reader.CountedUntil(z));
  return latest;
}

/// What the last sample says about the machine, from the sensors that measure it as a whole.
PlatformMeters::Whole PlatformMeters::WholeOf(const Member& member) {
  Whole whole;
  if (!member.open) return whole;
  const auto deltas = member.reader->deltas();
  bool known = true;
  for (size_t z = 0; z < deltas.size(); ++z) {
    if (!IsWhole(*member.reader, z)) continue;
    whole.energy += deltas[z].energy;
    whole.power = whole.power + deltas[z].power;
    whole.fresh |= deltas[z].fresh;
    whole.is_new |= deltas[z].fresh && !deltas[z].unchanged;
    whole.answers |= deltas[z].domains.read > 0;
    known = known && (deltas[z].fresh || deltas[z].unused);
  }
  whole.complete = known && whole.fresh;
  return whole;
}

void PlatformMeters::Choose() {
  auto best = std::ranges::find_if(members_, [](const Member& m) { return WholeOf(m).complete; });
  if (best == members_.end() && !chosen_)
    best = std::ranges::find_if(members_, [](const Member& m) { return WholeOf(m).answers; });
  if (best == members_.end()) return;
  const auto next = static_cast<size_t>(best - members_.begin());
  if (chosen_ && next == *chosen_) return;
  if (chosen_ && next > *chosen_ && clock_.Now() - members_[*chosen_].answered_at < kMaxSilence) return;
  if (chosen_)
    log::Info("another platform meter measures the total of the machine now",
              {{"meter", best->meter.name}, {"instead_of", members_[*chosen_].meter.name}});
  else
    log::Info("platform meter measures the total of the machine", {{"meter", best->meter.name}});
  if (!chosen_) reading_ = {clock_.Now(), RawCounter{}};
  total_.until = latest_;
  chosen_ = next;
  UseReserve(*best);
}

void PlatformMeters::Reserve(Member& member) const {
  if (member.reserve_from < latest_) member.reserve_from = {};
  if (!member.has_interval() || member.counted_from < latest_) return;
  if (member.reserve_from == BootTime{}) {
    member.reserve_from = member.counted_from;
    member.reserve = Energy();
  }
  member.reserve += member.pending;
}

void PlatformMeters::UseReserve(Member& member) {
  const BootTime from = std::exchange(member.reserve_from, BootTime{});
  if (from == BootTime{} || from < total_.until) return;
  if (from != total_.until) ++total_.gaps;
  total_.energy += member.reserve;
  CountUntilNow(member);
}

void PlatformMeters::CountUntilNow(const Member& member) {
  total_.until = member.counted_until;
  latest_ = std::max(total_.until, LatestCounted(*member.reader));
}

void PlatformMeters::Count(Member& member) {
  const Whole whole = WholeOf(member);
  if (member.has_interval() && member.counted_from >= total_.until) {
    const status::SourceStatus& status = member.reader->status();
    const uint64_t rejected = status.resets + status.rejected_readings + status.bridged_gaps;
    // Without a fresh reading, other sensors have replaced the ones before.
    if (member.counted_from != total_.until || rejected != rejected_ || !whole.fresh) ++total_.gaps;
    rejected_ = rejected;
    total_.energy += member.pending;
    CountUntilNow(member);
  }
  if (!whole.complete && total_.until == BootTime{}) return;  // the first reading stands until there is a second one
  if (!whole.complete)
    reading_ = {clock_.Now(), Error{ErrorKind::kTimeout, DescribeSilence(member)}};
  else if (whole.is_new || std::holds_alternative<Error>(reading_.value))
    reading_ = {member.reader->taken_at(), RawCounter{static_cast<uint64_t>(total_.energy.microjoules())}};
  if (whole.complete) reading_.power = whole.power;
}

/// Names the sensors without which there is no total.
std::string PlatformMeters::DescribeSilence(const Member& member) {
  std::string silent;
  size_t answering = 0;
  for (size_t z = 0; z < member.reader->deltas().size(); ++z) {
    if (!IsWhole(*member.reader, z)) continue;
    if (member.reader->deltas()[z].fresh || member.reader->deltas()[z].unused)
      ++answering;
    else
      silent += (silent.empty() ? "" : ", ") + member.reader->zones()[z].name;
  }
  if (answering == 0) return member.meter.name + " does not answer";
  return member.meter.name + ": the total of the machine waits for " + silent;
}

void PlatformMeters::ReadSensors(std::vector<status::PlatformReading>& out) const {
  size_t count = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    const Member& member = members_[m];
    if (!member.open) continue;
    for (size_t z = 0; z < member.totals.size(); ++z, ++count) {
      if (out.size() <= count) out.emplace_back();
      status::PlatformReading& reading = out[count];
      const status::Zone& zone = member.reader->zones()[z];
      const ZoneDelta& delta = member.reader->deltas()[z];
      reading.source = member.meter.name;
      reading.sensor = *zone.sensor;
      reading.energy = member.totals[z];
      reading.power = delta.power;
      reading.check = delta.check;
      reading.fresh = delta.fresh;
      reading.is_counted = chosen_ == m && zone.sensor->whole;
      reading.resolution = zone.resolution;
    }
  }
  out.resize(count);
}

void PlatformMeters::AppendStatus(std::vector<status::SourceStatus>& out) const {
  for (const Member& member : members_)
    if (member.reader != nullptr) out.push_back(member.reader->status());
}

}  // namespace kepler::energy
