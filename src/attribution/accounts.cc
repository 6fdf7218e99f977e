#include "attribution/accounts.h"

namespace kepler::attribution {

template <class Identity>
void Accounts<Identity>::SetZones(std::span<const size_t> from) {
  energy_ = WithZones(energy_, identity_.size(), zones_, from);
  tick_ = WithZones(tick_, identity_.size(), zones_, from);
  departed_ = WithZones(departed_, 1, zones_, from);
  capped_ = WithZones(capped_, 1, zones_, from);
  zones_ = from.size();
}

template <class Identity>
Row Accounts<Identity>::Open(std::shared_ptr<const Identity> identity) {
  Row row = 0;
  if (!free_.empty()) {
    row = free_.back();
    free_.pop_back();
  } else {
    row = static_cast<Row>(identity_.size());
    identity_.emplace_back();
    state_.push_back(Use::kFree);
    published_.push_back(0);
    listing_.emplace_back();
    begin_.emplace_back();
    expires_.emplace_back();
    cpu_.emplace_back();
    if (!events_.empty()) events_.emplace_back();
    energy_.resize(energy_.size() + zones_);
    tick_.resize(tick_.size() + zones_);
  }
  identity_[row] = std::move(identity);
  begin_[row] = open_begin_;
  state_[row] = Use::kRunning;
  published_[row] = 0;
  listing_[row] = Listing::kNew;
  return row;
}

template <class Identity>
void Accounts<Identity>::ForgetTick(const std::vector<bool>& keep) {
  if (std::ranges::find(keep, true) == keep.end()) {
    for (const Row row : charged_)
      std::fill_n(tick_.begin() + static_cast<std::ptrdiff_t>(row * zones_), zones_, Energy{});
    charged_.clear();
    return;
  }
  std::ranges::sort(charged_);
  charged_.erase(std::ranges::unique(charged_).begin(), charged_.end());
  std::erase_if(charged_, [&](Row row) {
    bool any = false;
    for (size_t zone = 0; zone < zones_; ++zone) {
      Energy& tick = tick_[row * zones_ + zone];
      if (!keep[zone]) tick = Energy{};
      any |= tick != Energy{};
    }
    return !any;
  });
}

template <class Identity>
bool Accounts<Identity>::End(Row row, BootTime now, size_t primary_zone) {
  Check(running(row), "an ending account must be running");
  const bool enough = primary_zone < zones_ && at(row, primary_zone) >= policy_.threshold;
  if (!keeps(row) && (policy_.cap() == 0 || !enough || !has_series(row))) {
    Depart(row);
    return false;
  }
  state_[row] = Use::kTerminated;
  expires_[row] = now + policy_.retention;
  ++terminated_;
  return true;
}

template <class Identity>
void Accounts<Identity>::MoveOut(Row row) {
  std::vector<Energy>& to = published_[row] != 0 ? departed_ : capped_;
  for (size_t zone = 0; zone < zones_; ++zone) {
    to[zone] += at(row, zone);
    at(row, zone) = Energy{};
  }
  published_[row] = 0;
  cpu_[row] = Nanoseconds{0};
  if (!events_.empty()) events_[row] = {};
}

template <class Identity>
void Accounts<Identity>::Depart(Row row) {
  Check(row < size() && state_[row] != Use::kFree, "a departing account must exist");
  MoveOut(row);
  ForgetCharges(row);
  if (state_[row] == Use::kTerminated) --terminated_;
  state_[row] = Use::kFree;
  identity_[row].reset();
  free_.push_back(row);
}

template <class Identity>
void Accounts<Identity>::Relabel(Row row, std::shared_ptr<const Identity> identity) {
  if (shown(row)) {
    MoveOut(row);
    ForgetCharges(row);
    begin_[row] = open_begin_;
    listing_[row] = Listing::kListed;  // it is not new
  }
  identity_[row] = std::move(identity);
}

template <class Identity>
void Accounts<Identity>::ForgetCharges(Row row) {
  std::fill_n(tick_.begin() + static_cast<std::ptrdiff_t>(row * zones_), zones_, Energy{});
}

template <class Identity>
void Accounts<Identity>::List(Row row) {
  Check(running(row), "an account that gets a series must be running");
  Check(listing_[row] != Listing::kLeft, "a snapshot without the lost series must be published before it starts again");
  if (listing_[row] == Listing::kUnlisted) begin_[row] = open_begin_;  // its charges are of this tick
  listing_[row] = Listing::kListed;
}

template <class Identity>
void Accounts<Identity>::Unlist(Row row) {
  Check(running(row), "an account that loses its series must be running");
  if (shown(row))
    listing_[row] = Listing::kLeft;
  else if (listing_[row] != Listing::kLeft)
    listing_[row] = Listing::kUnlisted;
  MoveOut(row);
}

template <class Identity>
void Accounts<Identity>::Hold(Row row) {
  Check(running(row) && !shown(row), "an account that waits for a name must be running and unpublished");
  listing_[row] = Listing::kPending;
}

template <class Identity>
void Accounts<Identity>::AddPending(std::span<Energy> sum) const {
  for (Row row = 0; row < size(); ++row) {
    if (!running(row) || listing_[row] != Listing::kPending) continue;
    for (size_t zone = 0; zone < zones_; ++zone) sum[zone] += energy_[row * zones_ + zone];
  }
}

template <class Identity>
void Accounts<Identity>::Give(Row row, Row to) {
  Check(running(to) && published_[row] == 0,
        "the giving account must have no series, the receiving one must be running");
  for (size_t zone = 0; zone < zones_; ++zone) Charge(to, zone, std::exchange(at(row, zone), Energy{}));
  ChargeCpu(to, std::exchange(cpu_[row], Nanoseconds{0}));
  if (!events_.empty()) ChargeEvents(to, std::exchange(events_[row], {}));
}

template <class Identity>
void Accounts<Identity>::Publish(std::span<const double> watts_per_uj, snapshot::Table<Identity>& out) {
  size_t rows = 0;
  for (Row row = 0; row < size(); ++row) {
    rows += size_t{has_series(row)};
    if (listing_[row] == Listing::kLeft) listing_[row] = Listing::kUnlisted;
  }
  out.zones = zones_;
  out.identity.resize(rows);
  out.state.resize(rows);
  out.begin.resize(rows);
  out.cpu.resize(rows);
  out.events.resize(events_.empty() ? 0 : rows);
  out.energy.resize(rows * zones_);
  out.watts.resize(rows * zones_);
  size_t to = 0;
  for (Row row = 0; row < size(); ++row) {
    if (!has_series(row)) continue;
    published_[row] = 1;
    // A recycled snapshot mostly holds the same rows: skip the reference counts then.
    if (out.identity[to] != identity_[row]) out.identity[to] = identity_[row];
    const bool running = state_[row] == Use::kRunning;
    out.state[to] = running ? snapshot::State::kRunning : snapshot::State::kTerminated;
    out.begin[to] = begin_[row];
    out.cpu[to] = cpu_[row];
    if (!events_.empty()) out.events[to] = events_[row];
    for (size_t zone = 0; zone < zones_; ++zone) {
      const size_t from = row * zones_ + zone;
      out.energy[to * zones_ + zone] = energy_[from];
      out.watts[to * zones_ + zone] =
          running ? static_cast<double>(tick_[from].microjoules()) * watts_per_uj[zone] : 0.0;
    }
    ++to;
  }
}

template class Accounts<snapshot::ProcessIdentity>;
template class Accounts<snapshot::ContainerIdentity>;
template class Accounts<snapshot::VmIdentity>;
template class Accounts<snapshot::PodIdentity>;

}  // namespace kepler::attribution
