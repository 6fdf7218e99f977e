#pragma once
// UserAccounts: charges the energy of processes to their users. Invariant for every zone: energy of the users of a tick
// without kNobody = Σ rows + departed + capped + unseen. Pure; collection thread only.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "attribution/roll_up_accounts.h"
#include "attribution/usage_list.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// Returns the name of the user with this uid, "" if it is unknown. Valid until the next call.
using FindUserName = std::function<std::string_view(uint32_t uid)>;

class UserAccounts {
 public:
  static constexpr RollUpLimits kLimits{.max_rows = 1'000};

  explicit UserAccounts(RollUpLimits limits = kLimits) : rows_(limits) {}

  /// Consecutive entries of the list of CPU usage that have the same user.
  struct Run {
    uint32_t uid;    // kUnknownUid: unseen
    bool is_nobody;  // the entries are unattributed
    size_t end;      // index behind the last entry
    Row row;         // row of the user
  };

  void SetZones(std::span<const size_t> from);
  /// `begin`: as in Accounts::BeginTick().
  void BeginTick(BootTime begin, BootTime now);
  /// Call before entry `index` is added to the list of CPU usage.
  void Use(uint32_t uid, size_t index) {
    if (latest_ == uid) return;
    latest_ = uid;
    BeginRun({.uid = uid, .is_nobody = false, .end = 0, .row = kNoRow}, index);
  }
  void UseNobody(size_t index) {
    latest_ = kNobody;
    BeginRun({.uid = kUnknownUid, .is_nobody = true, .end = 0, .row = kNoRow}, index);
  }
  /// Call when the list of CPU usage has all of its `size` entries, before the charges.
  void EndRuns(size_t size);
  [[nodiscard]] std::span<const Run> runs() const { return runs_; }
  /// Charges the energy of a run, or of a process of a user, in a zone.
  void Charge(const Run& run, size_t zone, Energy energy) {
    if (!run.is_nobody) Charge(run.uid, run.row, zone, energy);
  }
  void Charge(uint32_t uid, size_t zone, Energy energy) { Charge(uid, RowOf(uid), zone, energy); }
  /// Call after the charges of a tick.
  void EndTick();

  /// Names the users. A user whose name changed gets a new series; the energy of the old series departs.
  void SetNames(const FindUserName& find);
  /// Writes the table and its unlisted energy.
  void Publish(snapshot::Snapshot& out);

 private:
  static constexpr uint64_t kNobody = UINT64_MAX;  // no uid
  void BeginRun(const Run& run, size_t index);
  [[nodiscard]] Row RowOf(uint32_t uid);
  void Charge(uint32_t uid, Row row, size_t zone, Energy energy) {
    if (uid == kUnknownUid)
      unseen_[zone] += energy;
    else
      rows_.Add(row, zone, energy);
  }

  size_t zones_ = 0;
  BootTime begin_{};
  RollUpAccounts<snapshot::UserIdentity> rows_;
  uint64_t latest_ = kNobody;                         // uid of the latest run
  std::vector<Run> runs_;                             // of this tick
  boost::unordered_flat_map<uint32_t, Row> charged_;  // users of this tick, by uid
  std::vector<Energy> unseen_;
};

}  // namespace kepler::attribution
