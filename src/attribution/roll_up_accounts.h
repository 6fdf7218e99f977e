#pragma once
// RollUpAccounts: totals of the pods of each namespace, or of each owner. The energy of a pod stays in the total when
// the pod has ended. The number of rows is bounded: rows without pods depart first. Invariant for every zone:
// added = Σ rows + departed + capped. Pure; collection thread only.
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
  Nanoseconds max_idle = Nanoseconds::max();  // a row without pods departs after this time
};

class RollUpAccounts {
 public:
  explicit RollUpAccounts(RollUpLimits limits) : limits_(limits) {}

  /// As Accounts::SetZones().
  void SetZones(std::span<const size_t> from);
  /// Ends the rows that had no pods for too long.
  void BeginTick(BootTime now);
  /// Returns the row of a pod of this owner. The row stays until Leave(). A new row was 0 at `begin`. Returns kNoRow if
  /// every row has pods.
  [[nodiscard]] Row Join(const snapshot::OwnerIdentity& owner, BootTime begin);
  void Leave(Row row);
  /// kNoRow: the energy is capped.
  void Add(Row row, size_t zone, Energy energy) {
    (row == kNoRow ? capped_[zone] : energy_[row * zones_ + zone]) += energy;
  }

  void Publish(snapshot::RollUp& out) const;
  [[nodiscard]] std::span<const Energy> departed() const { return departed_; }
  [[nodiscard]] std::span<const Energy> capped() const { return capped_; }

 private:
  struct State {
    std::shared_ptr<const snapshot::OwnerIdentity> identity;  // null: a free row
    uint32_t pods = 0;
    BootTime left{};  // time at which the last pod left
    BootTime begin{};
  };
  [[nodiscard]] bool is_idle(const State& row) const { return row.identity && row.pods == 0; }
  [[nodiscard]] Row FreeRow();
  void Depart(Row row);

  RollUpLimits limits_;
  size_t zones_ = 0;
  BootTime now_{};
  BootTime previous_{};       // the tick before
  BootTime last_departed_{};  // its latest tick that had the row
  std::vector<State> rows_;
  std::vector<Row> free_;
  std::map<snapshot::OwnerIdentity, Row> row_of_;
  std::vector<Energy> energy_;  // rows × zones
  std::vector<Energy> departed_;
  std::vector<Energy> capped_;
};

}  // namespace kepler::attribution
