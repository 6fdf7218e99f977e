#include "energy/meter.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "energy/meter_domain.h"

namespace kepler::energy {
namespace {

/// Time between searches for new and removed domains: drivers may be loaded, and sockets may come online, at any time.
constexpr Nanoseconds kSearchPeriod = std::chrono::seconds(10);

}  // namespace

Meter::Meter(std::unique_ptr<EnergySource> source, const Clock& clock, std::function<Nanoseconds()> suspended)
    : source_(std::move(source)), clock_(clock), read_suspended_(std::move(suspended)) {
  status_.name = source_->Name();
}

Meter::~Meter() = default;

Status Meter::Open() {
  Status opened = TryOpen();
  status_.problem = opened ? std::nullopt : std::optional(opened.error());
  return opened;
}

Status Meter::TryOpen() {
  KEPLER_TRY(auto found, source_->Discover());
  Adopt(std::move(found));
  source_->Read(readings_);
  const Error* failure = nullptr;
  for (const DomainReading& reading : readings_) {
    const Error* error = std::get_if<Error>(&reading.value);
    const Withheld* withheld = std::get_if<Withheld>(&reading.value);
    if (error == nullptr)
      status_.up |= withheld == nullptr || withheld->unused;
    else if (failure == nullptr)
      failure = error;
  }
  if (!status_.up) {
    if (failure == nullptr) return Fail(ErrorKind::kUnavailable, fmt::format("{}: no energy domain", status_.name));
    return Fail(failure->kind, fmt::format("{}: no energy domain can be read: {}; {}", status_.name, failure->message,
                                           failure->kind == ErrorKind::kPermission
                                               ? Remedy(failure->kind)
                                               : "the meter exists but cannot be read; check its driver"));
  }
  return {};
}

void Meter::Announce() const {
  for (const status::Zone& zone : std::span(zones_).first(std::min(zones_.size(), kMaxAnnounced)))
    log::Info("energy zone", {{"meter", status_.name}, {"zone", zone.name}, {"path", zone.path}});
  if (zones_.size() > kMaxAnnounced)
    log::Info("more energy zones are not listed",
              {{"meter", status_.name}, {"zones", std::to_string(zones_.size() - kMaxAnnounced)}});
  size_t notes = 0;
  for (const DomainState& state : domains_) {
    if (state.domain.note.empty() || ++notes > kMaxAnnounced) continue;
    log::Info("energy zone details",
              {{"meter", status_.name}, {"zone", state.domain.zone}, {"note", state.domain.note}});
  }
}

void Meter::Sample() {
  SearchForDomains();
  if (rediscover_) Rediscover();
  Reset();
  taken_at_ = clock_.Now();
  suspended_ = read_suspended_();
  source_->Read(readings_);
  std::optional<BootTime> latest;
  const size_t count = std::min(readings_.size(), read_order_.size());
  for (size_t i = 0; i < count; ++i)
    if (Account(domains_[read_order_[i]], readings_[i]))
      latest = std::max(latest.value_or(BootTime{}), readings_[i].at);
  AccountMissing();
  SumUpZones();
  NoteProblem();
  status_.up = latest && !discovery_failed_;
  if (latest) status_.last_success = clock_.Wall() - (clock_.Now() - *latest);
}

/// Of the first domain that gives no reading although it is switched on.
void Meter::NoteProblem() {
  const auto failed = std::ranges::find_if(
      domains_, [](const DomainState& state) { return state.failure != nullptr && !state.offline; });
  status_.problem = failed == domains_.end() ? std::nullopt : std::optional(*failed->failure);
}

/// Domains without a good reading are ignored.
BootTime Meter::counted_until() const {
  std::optional<BootTime> until;
  for (const DomainState& state : domains_)
    if (state.is_part() && state.at != BootTime{}) until = std::min(until.value_or(state.at), state.at);
  return until.value_or(BootTime{});
}

bool Meter::IsListed(size_t zone) const {
  return std::ranges::any_of(domains_, [zone](const DomainState& s) { return s.zone == zone && !s.absent_since; });
}

BootTime Meter::CountedUntil(size_t zone) const {
  std::optional<BootTime> until;
  for (const DomainState& state : domains_)
    if (state.zone == zone && state.is_part() && !state.absent_since && state.at != BootTime{})
      until = std::min(until.value_or(state.at), state.at);
  return until.value_or(BootTime{});
}

void Meter::SearchForDomains() {
  if (clock_.Now() - searched_at_ < kSearchPeriod) return;
  searched_at_ = clock_.Now();
  // Searches twice after a change: a driver may create a directory before its files.
  const bool changed_before = std::exchange(changed_, source_->HasChanged());
  const bool absent = std::ranges::any_of(
      domains_, [](const DomainState& state) { return state.absent_since.has_value() && !state.replaced; });
  rediscover_ |= absent || changed_ || changed_before;
}

void Meter::Reset() {
  ZoneDelta nothing_new;
  nothing_new.unchanged = true;
  deltas_.assign(zones_.size(), nothing_new);
  for (DomainState& state : domains_) {
    state.share = Share::kMissing;
    state.failure = nullptr;
  }
}

void Meter::SumUpZones() {
  for (const DomainState& state : domains_) {
    ZoneDelta& zone = deltas_[state.zone];
    zone.fresh |= state.is_part() && state.share == Share::kCounted;
    if (state.mirror || state.replaced) continue;
    ++zone.domains.known;
    if (state.share != Share::kMissing) ++zone.domains.read;
  }
  // Without a domain, watts would be too low for the zone.
  for (const DomainState& state : domains_) {
    const bool gave = state.share == Share::kCounted || state.share == Share::kWithheld;
    if (state.is_part() && !gave) deltas_[state.zone].fresh = false;
  }
  for (ZoneDelta& zone : deltas_) {
    if (zone.fresh) continue;
    zone.power = Power();
    zone.unchanged = false;
  }
}

void Meter::Rediscover() {
  auto found = source_->Discover();
  discovery_failed_ = !found;
  rediscover_ = !found;
  searched_at_ = clock_.Now();
  if (found) {
    const size_t known = domains_.size();
    Adopt(*std::move(found));
    for (size_t i = known; i < std::min(domains_.size(), known + kMaxAnnounced); ++i) {
      const Domain& domain = domains_[i].domain;
      log::Info("found a new energy domain",
                {{"meter", status_.name}, {"zone", domain.zone}, {"path", domain.path}, {"note", domain.note}});
    }
    if (domains_.size() > known + kMaxAnnounced)
      log::Info("more new energy domains are not listed",
                {{"meter", status_.name}, {"domains", std::to_string(domains_.size() - known - kMaxAnnounced)}});
    return;
  }
  limiter_.Say(log::Level::kWarn, "discover", clock_.Now(), "failed to list the energy domains",
               {{"meter", status_.name},
                {"err", found.error().message},
                {"action", "its zones do not advance until it is found again"}});
}

void Meter::Adopt(std::vector<Domain> found) {
  searched_at_ = clock_.Now();
  status_.interface = source_->Interface();
  read_order_.clear();
  const auto doubtful = std::ranges::find_if(found, [](const Domain& domain) { return !domain.doubt.empty(); });
  status_.doubt = doubtful != found.end() ? doubtful->doubt : "";
  for (DomainState& state : domains_) state.absent_since = state.absent_since.value_or(searched_at_);
  for (const Domain& domain : found) {
    auto known =
        std::ranges::find(domains_, domain.key, [](const DomainState& s) { return std::string_view(s.domain.key); });
    if (known == domains_.end()) {
      DomainState state;
      state.zone = ZoneFor(domain, found);
      domains_.push_back(std::move(state));
      known = std::prev(domains_.end());
    }
    const Power max_before = known->max_power();
    known->domain = domain;
    if (domain.sensor) zones_[known->zone].sensor = domain.sensor;  // it may become, or no longer be, the whole
    // The energy so far may have been used under a higher limit, so the higher limit stays.
    if (known->at != BootTime{}) known->domain.max_power = std::max(max_before, known->max_power());
    if (known->absent_since.value_or(searched_at_) < searched_at_)
      log::Info("energy domain is available again",
                {{"meter", status_.name}, {"zone", domain.zone}, {"path", domain.path}});
    known->absent_since.reset();
    known->index = read_order_.size();
    read_order_.push_back(static_cast<size_t>(known - domains_.begin()));
  }
  FindReplaced();
  status_.longest_interval = longest_interval();
}

/// A platform meter has one sensor in each zone. If the zone has a present sensor, an absent one was renamed.
void Meter::FindReplaced() {
  for (DomainState& state : domains_) {
    const auto replaces = [&](const DomainState& other) { return !other.absent_since && other.zone == state.zone; };
    state.replaced = state.domain.sensor && state.absent_since && std::ranges::any_of(domains_, replaces);
  }
}

size_t Meter::ZoneFor(const Domain& domain, std::span<const Domain> found) {
  const auto known = std::ranges::find(zones_, domain.zone, &status::Zone::name);
  if (known != zones_.end()) return static_cast<size_t>(known - zones_.begin());
  const bool alone = std::ranges::count(found, domain.zone, &Domain::zone) == 1;
  zones_.push_back({domain.zone, alone ? domain.path : "aggregated-" + domain.zone, status_.name, source_->domain(),
                    domain.sensor, domain.resolution});
  return zones_.size() - 1;
}

}  // namespace kepler::energy
