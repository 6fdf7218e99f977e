#pragma once
// Accounts: energy and CPU time of the workloads of one level (process, container, VM, pod). When a series ends, its
// energy moves to `departed` or `capped`. Invariant for every zone: charged = Σ rows + departed + capped. Pure;
// collection thread only.
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

/// Time for which ended workloads stay listed, and their maximum number.
struct RetentionPolicy {
  Nanoseconds retention = std::chrono::minutes(2);
  Energy threshold = Energy::Joules(10);  // of the primary zone; an ended workload with less is not listed
  int64_t max = 500;                      // 0: none; negative: kMaxEver
  /// If true, a series that a snapshot has shown stays listed for `retention`, regardless of `threshold` and `max` (at
  /// most kMaxEver series). A server that scrapes more often than `retention` then gets the final value of each series.
  bool keep_shown = false;
  static constexpr size_t kMaxEver = 100'000;
  [[nodiscard]] size_t cap() const { return max < 0 ? kMaxEver : static_cast<size_t>(max); }
};

/// Marks a zone that begins at 0.
inline constexpr size_t kNewZone = SIZE_MAX;

/// Copies `values` (rows × zones) to other zones: zone z of the result is zone from[z], or 0 for kNewZone.
template <class T>
std::vector<T> WithZones(const std::vector<T>& values, size_t rows, size_t zones, std::span<const size_t> from) {
  std::vector<T> result(rows * from.size());
  for (size_t row = 0; row < rows; ++row)
    for (size_t z = 0; z < from.size(); ++z)
      if (from[z] != kNewZone) result[row * from.size() + z] = values[row * zones + from[z]];
  return result;
}

/// For the identities of snapshot/identity.h: accounts.cc instantiates it.
template <class Identity>
class Accounts {
 public:
  explicit Accounts(RetentionPolicy policy) : policy_(policy) {}

  /// Sets the zones of rows, totals and later charges. Each is the index of a previous zone, or kNewZone.
  void SetZones(std::span<const size_t> from);

  /// Accounts that are opened in this tick were 0 at `begin`. Their charges are for the time since then.
  void BeginTick(BootTime begin) { open_begin_ = begin; }
  /// Opens a running account at 0.
  [[nodiscard]] Row Open(std::shared_ptr<const Identity> identity);
  [[nodiscard]] const Identity& identity(Row row) const { return *identity_[row]; }
  [[nodiscard]] bool running(Row row) const { return row < size() && state_[row] == Use::kRunning; }

  void ChargeCpu(Row row, Nanoseconds cpu) {
    Check(running(row), "a charged account must be running");
    cpu_[row] += cpu;
  }
  /// The first call allocates the events of all rows: without hardware events they cost no memory.
  void ChargeEvents(Row row, const HardwareEvents& events) {
    Check(running(row), "a charged account must be running");
    if (events_.empty()) events_.resize(identity_.size());
    events_[row] += events;
  }
  /// `row` must be running. ChargeCpu() and Ledger::CheckUsers() check that once per tick, not for each zone.
  void Charge(Row row, size_t zone, Energy energy);
  /// Charges energy of workloads that get no account.
  void ChargeCapped(size_t zone, Energy energy) { capped_[zone] += energy; }
  /// Resets the charges of the last tick, from which watts are computed, except in zones with keep[zone].
  void ForgetTick(const std::vector<bool>& keep);

  /// Ends the account of a workload. Returns true if it stays listed as terminated: it had a series and used enough
  /// energy, or the policy keeps it. Returns false if it departs now.
  [[nodiscard]] bool End(Row row, BootTime now, size_t primary_zone);
  /// Continues the account of a terminated workload that is still listed.
  void Revive(Row row) {
    Check(state_[row] == Use::kTerminated, "a returning account must have ended");
    state_[row] = Use::kRunning;
    --terminated_;
  }
  /// Ends the series now and frees the row. Its energy moves to `departed`, or to `capped` if no snapshot showed it.
  void Depart(Row row);
  /// Whether an account has a series. It has one until Unlist() or Hold().
  enum class Listing : uint8_t {
    kNew,       // has a series; neither List() nor Unlist() was called yet
    kListed,    // has a series
    kLeft,      // lost its series; no snapshot without it was published yet
    kUnlisted,  // has no series
    kPending    // has no series yet: Hold()
  };
  [[nodiscard]] Listing listing(Row row) const { return listing_[row]; }
  /// Whether a snapshot has shown its series.
  [[nodiscard]] bool shown(Row row) const { return published_[row] != 0; }
  /// Energy that was charged in this tick. For zones that ForgetTick() keeps: in the latest tick with a change.
  [[nodiscard]] Energy charged(Row row, size_t zone) const { return tick_[row * zones_ + zone]; }
  /// Gives the account a series. A new series begins with this tick. Call it after the charges.
  void List(Row row);
  /// Ends the series. Its energy moves to `departed`. Later charges go to `capped` until List().
  void Unlist(Row row);
  /// Delays the series of the account until Release(). The series then starts at the begin of the account. Until then
  /// AddPending() includes its energy. Only for an account that no snapshot has shown.
  void Hold(Row row);
  void Release(Row row) {
    if (listing_[row] == Listing::kPending) listing_[row] = Listing::kListed;
  }
  /// Adds the energy of all held accounts to `sum`, by zone.
  void AddPending(std::span<Energy> sum) const;
  /// Moves all charges since Unlist() from an account without a series to the running account `to`.
  void Give(Row row, Row to);
  /// Changes the labels. The old series departs, and the row continues from 0 under the new labels. If no snapshot has
  /// shown the old labels, nothing departs and the row keeps its energy.
  void Relabel(Row row, std::shared_ptr<const Identity> identity);
  /// Returns true if the account will stay listed after its end because a snapshot has shown its series.
  [[nodiscard]] bool keeps(Row row) const { return policy_.keep_shown && shown(row) && has_series(row); }
  /// Ends the listing of terminated workloads after their retention, and of those beyond the cap, lowest energy first.
  /// Calls `departed(row)` before it frees a row.
  template <class OnDepart>
  void Expire(BootTime now, size_t primary_zone, OnDepart&& departed);

  /// Copies the rows that have a series. Watts of a row = charge of the last tick × watts_per_uj[zone], which is the
  /// power of the zone per microjoule charged.
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
void Accounts<Identity>::Charge(Row row, size_t zone, Energy energy) {
  if (energy == Energy{}) return;
  at(row, zone) += energy;
  Energy& tick = tick_[row * zones_ + zone];
  if (tick == Energy{}) charged_.push_back(row);
  tick += energy;
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
  const auto kept = static_cast<size_t>(std::ranges::count_if(ranking_, [&](Row row) { return keeps(row); }));
  const size_t cap = std::min(std::max(policy_.cap(), kept), RetentionPolicy::kMaxEver);
  if (ranking_.size() <= cap) return;
  const auto keep = static_cast<std::ptrdiff_t>(cap);
  std::nth_element(ranking_.begin(), ranking_.begin() + keep, ranking_.end(), [&](Row a, Row b) {
    if (keeps(a) != keeps(b)) return keeps(a);
    const Energy ea = at(a, primary_zone);
    const Energy eb = at(b, primary_zone);
    return ea != eb ? ea > eb : expires_[a] > expires_[b];
  });
  for (auto it = ranking_.begin() + keep; it != ranking_.end(); ++it) {
    departed(*it);
    Depart(*it);
  }
}

}  // namespace kepler::attribution
