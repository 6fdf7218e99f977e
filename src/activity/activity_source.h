#pragma once
// ActivitySource: who ran, and for how long, since the previous scan. Implementations: bpf/ and procfs/.
// Owned and called by the collection thread only.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hardware_events.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "cgroup/cgroup.h"
#include "snapshot/status.h"

namespace kepler::activity {

/// Index of a process in the source's table. Stable while the process lives; used again only after the sample that
/// reported the process in `exited`.
using Slot = uint32_t;

/// The index of an element for something new: the latest of `free`, else that of a fresh one at the end of `elements`.
template <class Index, class T>
[[nodiscard]] Index TakePlace(std::vector<T>& elements, std::vector<Index>& free) {
  if (free.empty()) {
    elements.emplace_back();
    return static_cast<Index>(elements.size() - 1);
  }
  const Index index = free.back();
  free.pop_back();
  return index;
}

/// A process that is alive at this scan.
struct ProcessSample {
  Slot slot = 0;
  const cgroup::ProcessInfo* info = nullptr;  // owned by the source, valid until the next Sample()
  uint32_t version = 0;                       // grows whenever info changed (comm, exe, cgroup); 0 is never used
  Nanoseconds cpu{0};  // ran since the previous scan (since its start, if it started meanwhile); >= 0
  HardwareEvents events{};
};

/// A process that is gone since the previous scan.
struct ExitedSample {
  Slot slot = 0;
  Nanoseconds cpu{0};  // its last slice, where the source knows it (bpf); 0 in procfs: there it is in `residuals`
  HardwareEvents events{};
  // What it was in that slice, if its labels changed since the latest scan (exec); else null and 0.
  const cgroup::ProcessInfo* info = nullptr;  // owned by the source, valid until the next Sample()
  uint32_t version = 0;
};

/// A process that came and went between two scans, or `late_remainder`: what comes to light of one whose end an earlier
/// sample has reported (bpf only; in procfs its time is in `residuals`).
struct ShortLivedSample {
  ProcessKey key;
  std::string_view comm;                        // valid until the next Sample(), as are exe and cgroups
  std::string_view exe;                         // as it was given to exec; "" where nobody can say
  const cgroup::Membership* cgroups = nullptr;  // never null; no lines where it is not known
  Nanoseconds cpu{0};
  HardwareEvents events{};
  bool late_remainder = false;
};

/// Time that a cgroup used and none of its known processes did: processes that came and went, last slices.
struct ResidualSample {
  cgroup::CgroupPtr cgroup;  // the owning one: the nearest that lives
  Nanoseconds cpu{0};        // > 0
};

/// A process that lives on under another slot.
struct MovedProcess {
  Slot from = 0;
  Slot to = 0;
};

struct ActivitySample {
  BootTime taken_at{};                   // middle of the pass
  std::vector<ProcessSample> processes;  // every living process, ascending pid; also those with cpu 0
  std::vector<ExitedSample> exited;
  std::vector<ShortLivedSample> short_lived;
  std::vector<ResidualSample> residuals;
  Nanoseconds invisible{0};  // ran, but no task that we can see did it: unattributed
  Nanoseconds lost{0};       // owner lost (dropped records): unattributed
  /// Another source has taken over. `exited`, `short_lived` and `residuals` have the last words of the old one, by its
  /// slots; all other slots of this sample and later ones mean others than before. Who is not in `moved` is gone.
  bool renumbered = false;
  std::vector<MovedProcess> moved;

  /// Empties it; the vectors keep their memory.
  void Clear() {
    taken_at = {};
    processes.clear();
    exited.clear();
    short_lived.clear();
    residuals.clear();
    invisible = lost = Nanoseconds{0};
    renumbered = false;
    moved.clear();
  }
};

/// What a source that stops knows, for the one that goes on in its place.
struct Handover {
  struct Process {
    ProcessKey key;
    Slot slot = 0;
    Nanoseconds cpu{0};  // used since its start, as of the latest good scan
  };
  BootTime scanned_at{};           // when that scan began; {}: there was none
  std::vector<Process> processes;  // alive then, as far as is known
};

class ActivitySource {
 public:
  virtual ~ActivitySource() = default;
  /// One scan. Fills `out` (its vectors are reused: no allocation in the steady state). The first scan reports every
  /// process with cpu 0: what was used before the agent started belongs to nobody. An error means that nothing could be
  /// listed at all; `out` is then empty and the next scan covers the time since the last good one.
  virtual Status Sample(ActivitySample& out) = 0;
  /// The source stops; Sample() is not called any more. `last` gets what is known of processes that ended since the
  /// latest good scan: exited, short-lived, residuals and lost. What they point to is valid as long as the source.
  virtual Handover HandOver(ActivitySample& last) {
    last.Clear();
    return {};
  }
  /// A descriptor that becomes readable when Drain() is due before the next scan; -1: never.
  [[nodiscard]] virtual int WakeFd() const { return -1; }
  /// Takes in what has piled up, for the next Sample(). Cheap, and fine at any time between scans.
  virtual void Drain() {}
  /// Cgroups that exist as of the last scan, whoever is in them: a container without a process is still "running".
  [[nodiscard]] virtual std::span<const cgroup::CgroupPtr> LivingCgroups() const = 0;
  [[nodiscard]] virtual const snapshot::ActivityStatus& status() const = 0;
};

}  // namespace kepler::activity
