#include "energy/meter.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "energy/meter_domain.h"

namespace kepler::energy {
namespace {

/// How often to look for a domain that went away: a socket that is offline may come back any time.
constexpr Nanoseconds kAbsentPeriod = std::chrono::seconds(10);
/// A driver that is reloaded is back by then; a socket that is not was taken offline.
constexpr Nanoseconds kLongestAbsence = std::chrono::minutes(1);

}  // namespace

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
      health_.up |= !std::holds_alternative<Withheld>(reading.value);
    } else if (failure == nullptr) {
      failure = error;
    }
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
  for (DomainState& state : domains_) state.share = Share::kMissing;
  taken_at_ = clock_.Now();
  source_->Read(readings_);
  bool any = false;
  const size_t count = std::min(readings_.size(), read_order_.size());
  for (size_t i = 0; i < count; ++i) any |= Account(domains_[read_order_[i]], readings_[i]);
  MarkFresh();
  health_.up = any && !discovery_failed_;
  if (any) health_.last_success = clock_.Wall();
}

/// Watts of a part of the domains would be taken for those of the whole zone; what stays away is no part of it any
/// more.
void Meter::MarkFresh() {
  const auto is_part = [this](const DomainState& state) {
    return !state.absent_since || taken_at_ - *state.absent_since < kLongestAbsence;
  };
  for (const DomainState& state : domains_) deltas_[state.zone].fresh |= is_part(state);
  for (const DomainState& state : domains_) {
    if (is_part(state) && state.share == Share::kMissing) deltas_[state.zone].fresh = false;
  }
  for (ZoneDelta& zone : deltas_) {
    if (!zone.fresh) zone.power = Power();
  }
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
                                        {"err", found.error().message},
                                        {"held_back", std::to_string(verdict.held_back)},
                                        {"action", "its zones stand still until it is found again"}});
  }
}

void Meter::Adopt(std::vector<Domain> found) {
  discovered_at_ = clock_.Now();
  read_order_.clear();
  for (DomainState& state : domains_) state.absent_since = state.absent_since.value_or(discovered_at_);
  for (const Domain& domain : found) {
    auto known =
        std::ranges::find(domains_, domain.key, [](const DomainState& s) { return std::string_view(s.domain.key); });
    if (known == domains_.end()) {
      DomainState state;
      state.zone = ZoneFor(domain, found);
      domains_.push_back(std::move(state));
      known = std::prev(domains_.end());
    }
    // What it used until now may have been used under a higher limit.
    const auto before = known->domain.most_power;
    known->domain = domain;
    if (known->at != BootTime{} && known->domain.most_power)
      known->domain.most_power = before ? std::max(*before, *domain.most_power) : before;
    known->absent_since.reset();
    known->index = read_order_.size();
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

}  // namespace kepler::energy
