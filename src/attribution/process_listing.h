#pragma once
// ProcessListing: which living processes have a series, where there shall not be one for each of them. What the others
// use is `capped` (docs/INVARIANTS.md), so that no limit loses a joule. Pure; collection thread only.
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

/// Of the processes that live. Those that have ended are limited by RetentionPolicy.
struct ProcessLimits {
  size_t max = 0;     // the processes with most recent power; 0: all
  Power min_power{};  // recent power in the primary zone
  KernelThreads kernel_threads = KernelThreads::kEach;
  [[nodiscard]] bool any() const { return max > 0 || min_power.watts() > 0 || kernel_threads != KernelThreads::kEach; }
};

/// How a tick's energy of the primary zone becomes power.
struct PrimaryPower {
  size_t zone;
  double watts_per_uj;
  bool known;  // false: the last known power counts on
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

  /// After the charges of a tick, before those that have ended are ended.
  void HideEnding(ProcessAccounts& processes);
  /// Then, before the tick is published; it took `time`. A series that was shown before is shown once more; until then
  /// nobody takes its place.
  void Update(ProcessAccounts& processes, const PrimaryPower& primary, Nanoseconds time);
  /// After a publication: those that have lost their series depart with what it showed last.
  void Published(ProcessAccounts& processes);
  /// As of the last Update(); nothing without limits.
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
  std::vector<Row> unwanted_;  // beyond the max
  std::vector<Row> leaving_;   // as of the publication of this tick
  Row kthreadd_ = kNoRow;      // stands for all of them
};

}  // namespace kepler::attribution
