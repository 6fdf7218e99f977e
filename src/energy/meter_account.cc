#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "energy/meter_domain.h"

namespace kepler::energy {
namespace {

/// The two clocks that measure a suspend are read one after the other, so a shorter one may be none.
constexpr Nanoseconds kShortestSuspend = std::chrono::seconds(1);

/// Rejected amounts may be as large as the type of the counter. Their sum must not overflow.
Energy SaturatingSum(Energy a, Energy b) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return b.microjoules() > kMax - a.microjoules() ? Energy::Microjoules(kMax) : a + b;
}

}  // namespace

std::string_view Remedy(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kPermission:
      return "run as root or grant CAP_DAC_READ_SEARCH";
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return "the agent searches for it again; check whether a driver was unloaded or a CPU was taken offline";
    case ErrorKind::kUnavailable:
      return "it is retried every ten seconds; if it was read before, the next reading includes the energy meanwhile";
    default:
      return "it is retried at the next tick; the next reading includes the energy meanwhile";
  }
}

std::optional<Nanoseconds> Meter::longest_interval() const {
  constexpr double kUnlimited = 1e9;  // 30 years: the counter never wraps
  std::optional<double> seconds;
  for (const DomainState& state : domains_) {
    if (!state.domain.range) continue;
    const double max = state.max_power().watts();
    seconds = std::min(seconds.value_or(kUnlimited), static_cast<double>(*state.domain.range) / 1e6 / max);
  }
  if (!seconds) return std::nullopt;
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(*seconds));
}

bool Meter::Account(DomainState& state, const DomainReading& reading) {
  if (const auto* error = std::get_if<Error>(&reading.value)) {
    state.failure = error;
    if (error->kind == ErrorKind::kGone || error->kind == ErrorKind::kNotFound) rediscover_ = true;
    return false;
  }
  if (const auto* withheld = std::get_if<Withheld>(&reading.value)) {
    state.share = Share::kWithheld;
    state.mirror = withheld->for_good;
    if (withheld->unused) state.at = reading.at;
    deltas_[state.zone].unused |= withheld->unused;
    return false;
  }
  deltas_[state.zone].only_load = reading.only_load;  // the same for all domains of a zone
  deltas_[state.zone].generation = reading.generation;
  deltas_[state.zone].check = reading.check;
  const uint64_t bridged = reading.check ? reading.check->bridged : state.bridged;
  if (bridged > std::exchange(state.bridged, bridged)) ++status_.bridged_gaps;
  if (reading.at == state.read_at) {
    state.share = state.last_share;
    deltas_[state.zone].power = deltas_[state.zone].power + state.shown;
    return true;
  }
  state.read_at = reading.at;
  state.share = Share::kRead;
  state.shown = Power();
  deltas_[state.zone].unchanged = false;
  if (const auto* counter = std::get_if<RawCounter>(&reading.value))
    AccountCounter(state, *counter, reading);
  else
    AccountPower(state, std::get<Power>(reading.value), reading.at);
  state.last_share = state.share;
  return true;
}

void Meter::AccountCounter(DomainState& state, RawCounter now, const DomainReading& reading) {
  const BootTime at = reading.at;
  const Nanoseconds elapsed = std::max(at - state.at, Nanoseconds::zero());
  const auto previous = std::exchange(state.counter, now);
  const Nanoseconds suspended = suspended_ - std::exchange(state.suspended, suspended_);
  state.at = at;
  // A suspend resets registers, or they go on. A wrap is therefore one only if it is possible in the time without the
  // suspend. The wraps of a sum cannot be seen, so its whole step must be possible in that time.
  const bool may_have_wrapped = state.domain.is_summed || (previous && now < *previous);
  const Nanoseconds possible = may_have_wrapped ? std::max(elapsed - suspended, Nanoseconds::zero()) : elapsed;
  const bool has_restarted = std::exchange(state.start, reading.start) != reading.start && previous;
  DeltaLimits limits;
  const auto compare = [&] {
    limits = {state.domain.range, PlausibleEnergy(state.max_power(), possible)};
    return has_restarted ? CounterDelta{DeltaKind::kReset, {}, {}} : DeltaBetween(previous, now, limits);
  };
  CounterDelta delta = compare();
  // A wrap with more energy than the limit looks like a reset.
  if ((delta.kind == DeltaKind::kRejected || delta.kind == DeltaKind::kReset) && RaiseMaxPower(state))
    delta = compare();
  if (delta.kind == DeltaKind::kRejected && state.domain.is_summed && suspended >= kShortestSuspend)
    delta.kind = DeltaKind::kReset;
  if (previous && now != *previous) status_.has_moved = true;
  switch (delta.kind) {
    case DeltaKind::kFirst:
      break;
    case DeltaKind::kNormal:
    case DeltaKind::kWrapped:
      Credit(state, delta.energy, reading.power.value_or(delta.energy / elapsed));
      SuspectUnknownWraps(state, delta.energy, elapsed);
      break;
    case DeltaKind::kReset:
      ++status_.resets;
      Complain(state, "energy counter was reset",
               has_restarted ? std::string("it started again: its sensor was not read for too long, or not listed")
               : now < *previous
                   ? fmt::format("it decreased from {} to {} uJ, which is not a wrap", previous->microjoules,
                                 now.microjoules)
                   : fmt::format("it increased by {} J while the machine was suspended for {} s; the kernel may have "
                                 "taken a reset of the register for a wrap",
                                 delta.refused.ToJoules(), ToSeconds(suspended)),
               "it continues from this value; check whether a driver was reloaded or the machine was suspended");
      break;
    case DeltaKind::kRejected:
      ++status_.rejected_readings;
      status_.rejected_energy = SaturatingSum(status_.rejected_energy, delta.refused);
      Complain(state, "energy reading rejected",
               fmt::format("{} J in {} s is more than the possible {} J", delta.refused.ToJoules(), ToSeconds(elapsed),
                           limits.max.ToJoules()),
               "it continues from this value without that energy; if the energy is real, report the model of the "
               "machine");
      break;
  }
}

/// The limit may have changed during the interval, so the larger limit applies.
bool Meter::RaiseMaxPower(DomainState& state) {
  Domain present = state.domain;
  source_->UpdateMaxPower(state.index, present);
  if (!present.max_power || *present.max_power <= state.max_power()) return false;
  state.domain.max_power = present.max_power;
  return true;
}

/// Counts an unknown wrap if one more wrap would also be within the limit.
void Meter::SuspectUnknownWraps(DomainState& state, Energy energy, Nanoseconds elapsed) {
  if (!state.domain.range) return;
  const bool any_limit_matters =
      static_cast<uint64_t>(EnergyOf(kMaxOfCounter, elapsed).microjoules()) > *state.domain.range;
  if (any_limit_matters) static_cast<void>(RaiseMaxPower(state));
  const Energy left = EnergyOf(state.max_power(), elapsed) - energy;
  if (left <= Energy() || static_cast<uint64_t>(left.microjoules()) <= *state.domain.range) return;
  ++status_.unknown_wraps;
  Complain(
      state, "energy counter may have wrapped unnoticed",
      fmt::format("it was not read for {:.1f} s, but can wrap in {:.1f} s", ToSeconds(elapsed),
                  ToSeconds(longest_interval().value_or(elapsed))),
      "its energy is a lower bound; unless the machine was suspended, shorten monitor.interval (if it is 0: scrape "
      "more often)");
}

void Meter::AccountPower(DomainState& state, Power now, BootTime at) {
  now = std::max(now, Power());
  const Nanoseconds elapsed = std::max(at - state.at, Nanoseconds::zero());
  const auto is_impossible = [&] { return now > PlausiblePower(state.max_power()); };
  if (is_impossible() && (!RaiseMaxPower(state) || is_impossible())) {
    // The rejected value is not stored: the next good value covers the gap, as after a failed read. The rejected energy
    // covers only the time since the previous reading, good or not, so consecutive rejections do not count time twice.
    ++status_.rejected_readings;
    const BootTime before = std::max(state.at, std::exchange(state.refused_at, at));
    const Nanoseconds refused = std::max(at - before, Nanoseconds::zero());
    if (state.at != BootTime{})
      status_.rejected_energy = SaturatingSum(status_.rejected_energy, EnergyOf(now, refused));
    Complain(state, "power reading rejected",
             fmt::format("{} W is more than the possible {} W", now.watts(), PlausiblePower(state.max_power()).watts()),
             "it is ignored; if the power is real, report the model of the machine");
    return;
  }
  if (now > Power()) status_.has_moved = true;
  const bool first = state.integral.empty();
  state.at = at;
  const auto energy = state.integral.Add(now, at);
  if (energy) return Credit(state, *energy, *energy / elapsed);
  if (first) return;
  ++status_.resets;
  Complain(state, "power sensor was not read for too long",
           fmt::format("there is no reading of the last {} s", ToSeconds(elapsed)),
           "that time is not counted; check whether the machine was suspended or monitor.interval is above 5m");
}

/// A domain that is no longer listed counts as a failed read in every sample.
void Meter::AccountMissing() {
  static const Error kAbsent{ErrorKind::kGone, "it no longer exists"};
  for (DomainState& state : domains_) {
    const bool missing = state.share == Share::kMissing && !state.mirror && !state.replaced;
    AccountOffline(state, missing && source_->IsOffline(state.domain));
    if (!missing || state.offline) continue;
    const Error& error = state.failure != nullptr ? *state.failure : kAbsent;
    ++status_.failed_reads;
    Complain(state, "energy reading failed", error.message, Remedy(error.kind));
  }
}

void Meter::AccountOffline(DomainState& state, bool offline) {
  const bool before = std::exchange(state.offline, offline);
  // The zone has no watts until the domain is found again.
  if (before && !offline && state.absent_since) rediscover_ = true;
  if (before || !offline) return;
  limiter_.Say(log::Level::kInfo, "offline " + state.domain.key, clock_.Now(),
               "energy domain is offline with its CPUs; its zone continues without it",
               {{"meter", status_.name}, {"zone", state.domain.zone}, {"path", state.domain.path}});
}

void Meter::Credit(DomainState& state, Energy energy, Power power) {
  ZoneDelta& zone = deltas_[state.zone];
  zone.energy += energy;
  state.shown = power;
  zone.power = zone.power + state.shown;
  state.share = Share::kCounted;
}

void Meter::Complain(const DomainState& state, std::string_view what, std::string why, std::string_view action) {
  limiter_.Say(log::Level::kWarn, fmt::format("{} {}", what, state.domain.key), clock_.Now(), what,
               {{"meter", status_.name},
                {"zone", state.domain.zone},
                {"path", state.domain.path},
                {"err", std::move(why)},
                {"action", std::string(action)}});
}

}  // namespace kepler::energy
