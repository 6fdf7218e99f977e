#pragma once
// RollUpAccounts: totals of the pods of each namespace or owner, or of the processes of each user, its members. The
// energy of a member stays in the total when the member has ended. The number of rows is bounded: rows without members
// depart first. Invariant for every zone: added = Σ rows + departed + capped. Pure; collection thread only.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "attribution/usage_list.h"
#include "base/clock.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

struct RollUpLimits {
  size_t max_rows = 1'000;
  Nanoseconds max_idle = Nanoseconds::max();  // a row without members departs after this time
};

/// For OwnerIdentity and UserIdentity: roll_up_accounts.cc instantiates it.
template <class Identity>
class RollUpAccounts {
 public:
  explicit RollUpAccounts(RollUpLimits limits) : limits_(limits) {}

  /// As Accounts::SetZones().
  void SetZones(std::span<const size_t> from);
  /// Ends the rows that had no members for too long.
  void BeginTick(BootTime now);
  /// Adds a member and returns its row. The row stays until Leave(). A new row was 0 at `begin`. Returns kNoRow if
  /// every row has members.
  [[nodiscard]] Row Join(const Identity& identity, BootTime begin);
  void Leave(Row row);
  /// kNoRow: the energy is capped.
  void Add(Row row, size_t zone, Energy energy) {
    (row == kNoRow ? capped_[zone] : energy_[row * zones_ + zone]) += energy;
  }

  /// Changes the labels of a row, which must be equal. If a snapshot has shown the old ones, the energy so far departs
  /// with them. Call after the charges of a tick.
  void Relabel(Row row, Identity identity);

  void Publish(snapshot::RollUpTable<Identity>& out);
  [[nodiscard]] Row size() const { return static_cast<Row>(rows_.size()); }  // including free rows
  /// Null for a free row.
  [[nodiscard]] const Identity* identity(Row row) const { return rows_[row].identity.get(); }
  [[nodiscard]] bool has(const Identity& identity) const { return row_of_.contains(identity); }
  /// True if a new row needs the place of another one.
  [[nodiscard]] bool is_full() const { return free_.empty() && rows_.size() >= limits_.max_rows; }
  [[nodiscard]] std::span<const Energy> departed() const { return departed_; }
  [[nodiscard]] std::span<const Energy> capped() const { return capped_; }

 private:
  struct State {
    std::shared_ptr<const Identity> identity;  // null: a free row
    uint32_t members = 0;
    bool shown = false;  // in a snapshot
    BootTime left{};     // time at which the last member left
    BootTime begin{};
  };
  [[nodiscard]] bool is_idle(const State& row) const { return row.identity && row.members == 0; }
  [[nodiscard]] Row FreeRow();
  void Depart(Row row);
  void MoveOut(Row row);

  RollUpLimits limits_;
  size_t zones_ = 0;
  BootTime now_{};
  BootTime previous_{};       // the tick before
  BootTime last_departed_{};  // its latest tick that had the row
  std::vector<State> rows_;
  std::vector<Row> free_;
  std::map<Identity, Row> row_of_;
  std::vector<Energy> energy_;  // rows × zones
  std::vector<Energy> departed_;
  std::vector<Energy> capped_;
};

}  // namespace kepler::attribution
