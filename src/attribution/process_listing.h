#pragma once
// ProcessListing: selects the living processes with a series, if limits apply. Energy of the other processes is
// `capped` (docs/INVARIANTS.md), so no limit loses energy. Pure; collection thread only.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "attribution/process_accounts.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// How kernel threads outside of containers and pods are shown.
enum class KernelThreads : uint8_t {
  kEach,
  kOne,  // all together as their parent, kthreadd, in addition to the other limits
  kNone
};

/// Limits for living processes. RetentionPolicy limits the ended ones.
struct ProcessLimits {
  size_t max = 0;     // the processes with most recent power; 0: all
  Power min_power{};  // recent power in the primary zone
  KernelThreads kernel_threads = KernelThreads::kEach;
  [[nodiscard]] bool any() const { return max > 0 || min_power.watts() > 0 || kernel_threads != KernelThreads::kEach; }
};

/// Converts the energy of a tick in the primary zone to power.
struct PrimaryPower {
  size_t zone;
  double watts_per_uj;
  bool known;  // false: the last known power is still used
};

class ProcessListing {
 public:
  /// A mean over about this time ranks processes, 0 before they start: a series that begins and ends with each tick
  /// helps nobody.
  static constexpr std::chrono::seconds kRecent{60};
  /// Hysteresis: a listed process stays until another has this multiple of its power, or the limit is this multiple of
  /// it.
  static constexpr double kStays = 1.5;

  explicit ProcessListing(const ProcessLimits& limits) : limits_(limits) {}

  /// Call after the charges of a tick, and before ended processes are removed.
  void HideEnding(ProcessAccounts& processes);
  /// Call next, before the tick is published. `time`: length of the tick. A series that ends is published once more,
  /// and its place becomes free afterwards.
  void Update(ProcessAccounts& processes, const PrimaryPower& primary, Nanoseconds time);
  /// Call after a publication. Series that end depart with the values that were published last.
  void Published(ProcessAccounts& processes);
  /// Result of the last Update(); empty without limits.
  [[nodiscard]] const std::optional<snapshot::CutProcesses>& cut() const { return cut_; }

 private:
  void Learn(const ProcessAccounts& processes, const PrimaryPower& primary, Nanoseconds time);
  [[nodiscard]] bool IsHiddenKernelThread(const ProcessAccounts& processes, Row row) const;
  void HideKernelThread(ProcessAccounts& processes, Row row);
  [[nodiscard]] bool IsBelowMin(const ProcessAccounts& processes, Row row) const;
  void KeepMostPower(const ProcessAccounts& processes);
  void Cut(ProcessAccounts& processes, Row row, uint64_t& count);
  void ListWanted(ProcessAccounts& processes);

  ProcessLimits limits_;
  std::optional<snapshot::CutProcesses> cut_;
  std::vector<double> of_late_;  // watts, by row
  std::vector<Row> wanted_;
  std::vector<Row> unwanted_;  // above the maximum
  std::vector<Row> leaving_;   // series that end with the publication of this tick
  Row kthreadd_ = kNoRow;      // represents all kernel threads
};

}  // namespace kepler::attribution
