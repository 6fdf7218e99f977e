#include "energy/meter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"

namespace kepler::energy {
namespace {

const Power kMostOfCounter = Power::Watts(2'000);
const Power kMostOfSensor = Power::Watts(20'000);
/// Added to the elapsed time of the gate: meters update in steps (RAPL every millisecond, firmware up to 100 ms), so a
/// very short interval may rightly show the energy of a longer one.
constexpr Nanoseconds kGateSlack = std::chrono::milliseconds(100);
/// A sensor that was silent for longer says nothing about the time between (the machine may have been suspended).
constexpr Nanoseconds kLongestSensorGap = std::chrono::minutes(5);
/// How often to look for a domain that went away: a socket that is offline may come back any time.
constexpr Nanoseconds kAbsentPeriod = std::chrono::seconds(10);

Energy Product(Power power, Nanoseconds elapsed) {
  constexpr double kRepresentable = 9.2e18;
  const double microjoules = power.watts() * static_cast<double>(elapsed.count()) / 1e3;
  return Energy::Microjoules(static_cast<int64_t>(std::min(microjoules, kRepresentable)));
}

/// Refused amounts may be as large as the counter's type; their sum must not overflow.
Energy SaturatingSum(Energy a, Energy b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return b.microjoules() > kMost - a.microjoules() ? Energy::Microjoules(kMost) : a + b;
}

Power MostPower(const Domain& domain, Power otherwise) {
  return domain.most_power ? *domain.most_power + *domain.most_power : otherwise;
}

std::string_view Remedy(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kPermission:
      return "run as root or grant CAP_DAC_READ_SEARCH";
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return "it is looked for again; was a driver unloaded or a CPU taken offline?";
    default:
      return "it is read again at the next sample and caught up then";
  }
}

}  // namespace

struct Meter::DomainState {
  Domain domain;
  size_t zone = 0;
  std::optional<RawCounter> counter;  // the last good reading, of whichever kind, and when it was taken
  std::optional<Power> power;
  BootTime at{};
  BootTime refused_at{};  // of a power sensor: when its last rejected reading was taken
  double carry_uj = 0;    // of a power sensor: the part of a microjoule not yet given out, in [0, 1)
};

Meter::Meter(std::unique_ptr<EnergySource> source, const Clock& clock) : source_(std::move(source)), clock_(clock) {
  health_.source = source_->Name();
}

Meter::~Meter() = default;

Status Meter::Open() {
  KEPLER_TRY(auto found, source_->Discover());
  Adopt(std::move(found));
  source_->Read(readings_);
  const Error* failure = nullptr;
  for (const DomainReading& reading : readings_) {
    const Error* error = std::get_if<Error>(&reading.value);
    if (error == nullptr) {
      health_.up = true;
      break;
    }
    if (failure == nullptr) failure = error;
  }
  if (!health_.up) {
    if (failure == nullptr) return Fail(ErrorKind::kUnavailable, fmt::format("{}: no energy domain", health_.source));
    return Fail(failure->kind, fmt::format("{}: none of its {} energy domains can be read: {}; {}", health_.source,
                                           readings_.size(), failure->message,
                                           failure->kind == ErrorKind::kPermission
                                               ? Remedy(failure->kind)
                                               : "the meter is there but broken: check its driver"));
  }
  for (const Zone& zone : zones_) {
    log::Info("energy zone", {{"source", health_.source}, {"zone", zone.name}, {"path", zone.path}});
  }
  for (const DomainState& state : domains_) {
    if (state.domain.note.empty()) continue;
    log::Info("about an energy zone",
              {{"source", health_.source}, {"zone", state.domain.zone}, {"note", state.domain.note}});
  }
  return {};
}

void Meter::Sample() {
  const bool absent = read_order_.size() < domains_.size();
  if (rediscover_ || (absent && clock_.Now() - discovered_at_ >= kAbsentPeriod)) Rediscover();
  deltas_.assign(zones_.size(), ZoneDelta{});
  taken_at_ = clock_.Now();
  source_->Read(readings_);
  bool any = false;
  const size_t count = std::min(readings_.size(), read_order_.size());
  for (size_t i = 0; i < count; ++i) any |= Account(domains_[read_order_[i]], readings_[i]);
  health_.up = any && !discovery_failed_;
  if (any) health_.last_success = clock_.Wall();
}

void Meter::Rediscover() {
  auto found = source_->Discover();
  discovery_failed_ = !found;
  rediscover_ = !found;
  discovered_at_ = clock_.Now();
  if (found) {
    Adopt(*std::move(found));
    return;
  }
  if (const auto verdict = limiter_.Ask("discover", clock_.Now()); verdict.pass) {
    log::Warn("energy source is gone", {{"source", health_.source},
                                        {"error", found.error().message},
                                        {"repeated", std::to_string(verdict.held_back)},
                                        {"action", "its zones stand still until it is found again"}});
  }
}

void Meter::Adopt(std::vector<Domain> found) {
  discovered_at_ = clock_.Now();
  read_order_.clear();
  for (const Domain& domain : found) {
    auto known =
        std::ranges::find(domains_, domain.key, [](const DomainState& s) { return std::string_view(s.domain.key); });
    if (known == domains_.end()) {
      DomainState state;
      state.zone = ZoneFor(domain, found);
      domains_.push_back(std::move(state));
      known = std::prev(domains_.end());
    }
    known->domain = domain;
    read_order_.push_back(static_cast<size_t>(known - domains_.begin()));
  }
}

size_t Meter::ZoneFor(const Domain& domain, std::span<const Domain> found) {
  const auto known = std::ranges::find(zones_, domain.zone, &Zone::name);
  if (known != zones_.end()) return static_cast<size_t>(known - zones_.begin());
  const bool alone = std::ranges::count(found, domain.zone, &Domain::zone) == 1;
  zones_.push_back({domain.zone, alone ? domain.path : "aggregated-" + domain.zone});
  return zones_.size() - 1;
}

bool Meter::Account(DomainState& state, const DomainReading& reading) {
  if (const auto* error = std::get_if<Error>(&reading.value)) {
    AccountFailure(state, *error);
    return false;
  }
  if (const auto* counter = std::get_if<RawCounter>(&reading.value))
    AccountCounter(state, *counter, reading.at);
  else
    AccountPower(state, std::get<Power>(reading.value), reading.at);
  return true;
}

void Meter::AccountCounter(DomainState& state, RawCounter now, BootTime at) {
  const Nanoseconds elapsed = std::max(at - state.at, Nanoseconds::zero());
  const DeltaLimits limits{state.domain.range, Product(MostPower(state.domain, kMostOfCounter), elapsed + kGateSlack)};
  const auto previous = std::exchange(state.counter, now);
  state.at = at;
  const CounterDelta delta = DeltaBetween(previous, now, limits);
  if (previous && now != *previous) has_moved_ = true;
  switch (delta.kind) {
    case DeltaKind::kFirst:
      break;
    case DeltaKind::kNormal:
    case DeltaKind::kWrapped:
      Credit(state, delta.energy, delta.energy / elapsed);
      break;
    case DeltaKind::kReset:
      ++health_.resets;
      Complain(state, "energy counter was reset",
               fmt::format("it fell from {} to {} uJ, which is no wrap", previous->microjoules, now.microjoules),
               "it counts on from here, nothing is invented; was a driver reloaded or the machine suspended?");
      break;
    case DeltaKind::kRejected:
      ++health_.rejected_readings;
      health_.rejected_energy = SaturatingSum(health_.rejected_energy, delta.refused);
      Complain(state, "energy reading rejected",
               fmt::format("{} J in {} s is more than the {} J that are possible", delta.refused.ToJoules(),
                           std::chrono::duration<double>(elapsed).count(), limits.most.ToJoules()),
               "it counts on from here without that energy; if it is real, report the machine's model");
      break;
  }
}

void Meter::AccountPower(DomainState& state, Power now, BootTime at) {
  now = std::max(now, Power());
  const Nanoseconds elapsed = std::max(at - state.at, Nanoseconds::zero());
  const Power most = MostPower(state.domain, kMostOfSensor);
  if (now > most) {
    // Not taken over: the next good value spans the gap, as after a failed read. What was refused spans only the time
    // since the reading before it, good or not: else many in a row would count the same time again and again.
    ++health_.rejected_readings;
    const BootTime before = std::max(state.at, std::exchange(state.refused_at, at));
    const Nanoseconds refused = std::max(at - before, Nanoseconds::zero());
    if (state.power) health_.rejected_energy = SaturatingSum(health_.rejected_energy, Product(now, refused));
    Complain(state, "power reading rejected",
             fmt::format("{} W is more than the {} W that are possible", now.watts(), most.watts()),
             "it is left out; if it is real, report the machine's model");
    return;
  }
  if (now > Power()) has_moved_ = true;
  const auto previous = std::exchange(state.power, now);
  state.at = at;
  if (!previous) return;
  if (elapsed > kLongestSensorGap) {
    ++health_.resets;
    Complain(state, "power sensor was silent",
             fmt::format("nothing is known about the last {} s", std::chrono::duration<double>(elapsed).count()),
             "that time is not counted; was the machine suspended, or is monitor.interval above 5m?");
    return;
  }
  const double mean_watts = (previous->watts() + now.watts()) / 2;
  const double exact_uj = mean_watts * static_cast<double>(elapsed.count()) / 1e3 + state.carry_uj;
  const double whole_uj = std::floor(exact_uj);
  state.carry_uj = exact_uj - whole_uj;
  Credit(state, Energy::Microjoules(static_cast<int64_t>(whole_uj)), now);
}

void Meter::AccountFailure(const DomainState& state, const Error& error) {
  ++health_.failed_reads;
  if (error.kind == ErrorKind::kGone || error.kind == ErrorKind::kNotFound) rediscover_ = true;
  Complain(state, "energy reading failed", error.message, Remedy(error.kind));
}

void Meter::Credit(const DomainState& state, Energy energy, Power power) {
  ZoneDelta& zone = deltas_[state.zone];
  zone.energy += energy;
  zone.power = zone.power + power;
  zone.fresh = true;
}

void Meter::Complain(const DomainState& state, std::string_view what, std::string why, std::string_view action) {
  const auto verdict = limiter_.Ask(fmt::format("{} {}", what, state.domain.key), clock_.Now());
  if (!verdict.pass) return;
  log::Warn(what, {{"source", health_.source},
                   {"zone", state.domain.zone},
                   {"path", state.domain.path},
                   {"reason", std::move(why)},
                   {"repeated", std::to_string(verdict.held_back)},
                   {"action", std::string(action)}});
}

size_t SelectPrimaryZone(std::span<const Zone> zones) {
  constexpr std::array<std::string_view, 16> kOrder = {
      "psys", "package", "socket",     "cpu",      "core", "dram",     "uncore", "ppt",
      "ppt0", "ppt1",    "core_power", "io_power", "soc",  "platform", "gpu",    "vddgfx"};
  for (const std::string_view wanted : kOrder) {
    const auto found = std::ranges::find_if(zones, [&](const Zone& zone) { return ToLowerAscii(zone.name) == wanted; });
    if (found != zones.end()) return static_cast<size_t>(found - zones.begin());
  }
  return 0;
}

}  // namespace kepler::energy
