#pragma once
// Accounts: who used how much on one level (process, container, VM, pod), and where it went when a series ended.
// For every zone: charged = Σ rows + departed + capped, always. Pure; collection thread only.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "attribution/usage_list.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hardware_events.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// What decides how long and how many ended workloads stay listed.
struct RetentionPolicy {
  Nanoseconds retention = std::chrono::minutes(2);
  Energy threshold = Energy::Joules(10);  // of the primary zone; less is not listed once it has ended
  int64_t max = 500;                      // 0: none; negative: kMaxEver
  static constexpr size_t kMaxEver = 100'000;
  [[nodiscard]] size_t cap() const { return max < 0 ? kMaxEver : static_cast<size_t>(max); }
};

/// Of a zone that begins at 0.
inline constexpr size_t kNewZone = SIZE_MAX;

/// `values`, rows × zones, with other zones.
template <class T>
std::vector<T> WithZones(const std::vector<T>& values, size_t rows, size_t zones, std::span<const size_t> from) {
  std::vector<T> result(rows * from.size());
  for (size_t row = 0; row < rows; ++row)
    for (size_t z = 0; z < from.size(); ++z)
      if (from[z] != kNewZone) result[row * from.size() + z] = values[row * zones + from[z]];
  return result;
}

template <class Identity>
class Accounts {
 public:
  explicit Accounts(RetentionPolicy policy) : policy_(policy) {}

  /// Rows, totals and later charges have these zones: each is what was at that index, or kNewZone.
  void SetZones(std::span<const size_t> from);

  /// What is opened in this tick was 0 at `begin`: what it is charged, it used since.
  void BeginTick(BootTime begin) { open_begin_ = begin; }
  /// A new running account that starts at 0.
  [[nodiscard]] Row Open(std::shared_ptr<const Identity> identity);
  [[nodiscard]] const Identity& identity(Row row) const { return *identity_[row]; }
  [[nodiscard]] bool running(Row row) const { return row < size() && state_[row] == Use::kRunning; }

  void ChargeCpu(Row row, Nanoseconds cpu) {
    Check(running(row), "who is charged is running");
    cpu_[row] += cpu;
  }
  /// The first event ever makes room for those of all rows: where nobody counts, they cost nothing.
  void ChargeEvents(Row row, const HardwareEvents& events) {
    Check(running(row), "who is charged is running");
    if (events_.empty()) events_.resize(identity_.size());
    events_[row] += events;
  }
  /// `row` is running: that is checked once per tick, not for each zone (ChargeCpu(), Ledger::CheckUsers()).
  void Charge(Row row, size_t zone, Energy energy);
  /// For what has no account and gets none.
  void ChargeCapped(size_t zone, Energy energy) { capped_[zone] += energy; }
  /// Forgets the charges of the last tick (they are what watts are made of), but of those zones that keep theirs.
  void ForgetTick(const std::vector<bool>& keep);

  /// The workload has ended: listed as terminated if it used enough and had a series (true), else it departs now
  /// (false).
  [[nodiscard]] bool End(Row row, BootTime now, size_t primary_zone);
  /// A terminated workload is back while still listed: its account goes on.
  void Revive(Row row) {
    Check(state_[row] == Use::kTerminated, "who comes back had ended");
    state_[row] = Use::kRunning;
    --terminated_;
  }
  /// The series ends now; its energy becomes `departed` (or `capped`, if no snapshot ever showed it). Frees the row.
  void Depart(Row row);
  /// Whether an account has a series: it has, unless Unlist() says otherwise.
  enum class Listing : uint8_t {
    kNew,       // it has; nobody has said so yet
    kListed,    // it has
    kLeft,      // it had, and no snapshot has been without it yet
    kUnlisted,  // it has none
    kHeld       // it has none yet: Hold()
  };
  [[nodiscard]] Listing listing(Row row) const { return listing_[row]; }
  /// Whether a snapshot has shown its series.
  [[nodiscard]] bool shown(Row row) const { return published_[row] != 0; }
  /// What it was charged in this tick; where the zone is unchanged, in the tick before that goes on.
  [[nodiscard]] Energy charged(Row row, size_t zone) const { return tick_[row * zones_ + zone]; }
  /// It has a series: where it had none, one that begins with this tick. After the charges.
  void List(Row row);
  /// It has none: the one that it had departs; what it uses until it is listed again is capped.
  void Unlist(Row row);
  /// It has no series before Release(), and then one that begins where the account began: what it is charged meanwhile
  /// is in AddHeld(). No snapshot has shown it.
  void Hold(Row row);
  void Release(Row row) {
    if (listing_[row] == Listing::kHeld) listing_[row] = Listing::kListed;
  }
  /// Adds the energy of all that are held to `sum`, by zone.
  void AddHeld(std::span<Energy> sum) const;
  /// All that an account without a series has goes to `to`, which runs: what it was charged since Unlist().
  void Give(Row row, Row to);
  /// The labels change: the old series departs, the row goes on from 0 under the new ones. Where no snapshot has shown
  /// the old ones, nothing departs and the row keeps what it has.
  void Relabel(Row row, std::shared_ptr<const Identity> identity);
  /// Ends the listing of those whose retention is over and of those beyond the cap, lowest energy first.
  /// Calls `departed(row)` before each row is freed.
  template <class OnDepart>
  void Expire(BootTime now, size_t primary_zone, OnDepart&& departed);

  /// Copies the rows that have a series. Watts = last charge ÷ zone energy × zone power, per zone (`watts_per_uj`).
  void Publish(std::span<const double> watts_per_uj, snapshot::Table<Identity>& out);

  [[nodiscard]] std::span<const Energy> departed() const { return departed_; }
  [[nodiscard]] std::span<const Energy> capped() const { return capped_; }
  [[nodiscard]] Row size() const { return static_cast<Row>(identity_.size()); }  // including free rows

 private:
  enum class Use : uint8_t { kFree, kRunning, kTerminated };

  [[nodiscard]] bool has_series(Row row) const {
    return state_[row] != Use::kFree && (listing_[row] == Listing::kNew || listing_[row] == Listing::kListed);
  }
  [[nodiscard]] Energy& at(Row row, size_t zone) { return energy_[row * zones_ + zone]; }
  void MoveOut(Row row);
  void ForgetCharges(Row row);

  RetentionPolicy policy_;
  size_t zones_ = 0;
  size_t terminated_ = 0;
  std::vector<std::shared_ptr<const Identity>> identity_;
  std::vector<Use> state_;
  std::vector<uint8_t> published_;
  std::vector<Listing> listing_;
  BootTime open_begin_{};
  std::vector<BootTime> begin_;
  std::vector<BootTime> expires_;
  std::vector<Nanoseconds> cpu_;
  std::vector<HardwareEvents> events_;  // empty until something is counted
  std::vector<Energy> energy_;          // rows × zones
  std::vector<Energy> tick_;            // rows × zones: charged in this tick
  std::vector<Row> charged_;            // rows with a non-zero tick_ entry (may repeat)
  std::vector<Row> free_;
  std::vector<Row> ranking_;
  std::vector<Energy> departed_;
  std::vector<Energy> capped_;
};

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
void Accounts<Identity>::Charge(Row row, size_t zone, Energy energy) {
  if (energy == Energy{}) return;
  at(row, zone) += energy;
  Energy& tick = tick_[row * zones_ + zone];
  if (tick == Energy{}) charged_.push_back(row);
  tick += energy;
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
  Check(running(row), "who ends was running");
  const bool enough = primary_zone < zones_ && at(row, primary_zone) >= policy_.threshold;
  if (policy_.cap() == 0 || !enough || !has_series(row)) {
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
  Check(row < size() && state_[row] != Use::kFree, "who departs is there");
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
  Check(running(row), "who gets a series is running");
  Check(listing_[row] != Listing::kLeft, "a series that begins again was away");
  if (listing_[row] == Listing::kUnlisted) begin_[row] = open_begin_;  // what it has is of this tick
  listing_[row] = Listing::kListed;
}

template <class Identity>
void Accounts<Identity>::Unlist(Row row) {
  Check(running(row), "who loses its series is running");
  if (shown(row))
    listing_[row] = Listing::kLeft;
  else if (listing_[row] != Listing::kLeft)
    listing_[row] = Listing::kUnlisted;
  MoveOut(row);
}

template <class Identity>
void Accounts<Identity>::Hold(Row row) {
  Check(running(row) && !shown(row), "who waits for a name runs, and nobody has seen its series");
  listing_[row] = Listing::kHeld;
}

template <class Identity>
void Accounts<Identity>::AddHeld(std::span<Energy> sum) const {
  for (Row row = 0; row < size(); ++row) {
    if (!running(row) || listing_[row] != Listing::kHeld) continue;
    for (size_t zone = 0; zone < zones_; ++zone) sum[zone] += energy_[row * zones_ + zone];
  }
}

template <class Identity>
void Accounts<Identity>::Give(Row row, Row to) {
  Check(running(to) && published_[row] == 0, "who gives has no series, who gets runs");
  for (size_t zone = 0; zone < zones_; ++zone) Charge(to, zone, std::exchange(at(row, zone), Energy{}));
  ChargeCpu(to, std::exchange(cpu_[row], Nanoseconds{0}));
  if (!events_.empty()) ChargeEvents(to, std::exchange(events_[row], {}));
}

template <class Identity>
template <class OnDepart>
void Accounts<Identity>::Expire(BootTime now, size_t primary_zone, OnDepart&& departed) {
  if (terminated_ == 0) return;
  ranking_.clear();
  for (Row row = 0; row < size(); ++row) {
    if (state_[row] != Use::kTerminated) continue;
    if (expires_[row] <= now) {
      departed(row);
      Depart(row);
    } else {
      ranking_.push_back(row);
    }
  }
  if (ranking_.size() <= policy_.cap()) return;
  const auto keep = static_cast<std::ptrdiff_t>(policy_.cap());
  std::nth_element(ranking_.begin(), ranking_.begin() + keep, ranking_.end(), [&](Row a, Row b) {
    const Energy ea = at(a, primary_zone);
    const Energy eb = at(b, primary_zone);
    return ea != eb ? ea > eb : expires_[a] > expires_[b];
  });
  for (auto it = ranking_.begin() + keep; it != ranking_.end(); ++it) {
    departed(*it);
    Depart(*it);
  }
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

}  // namespace kepler::attribution
