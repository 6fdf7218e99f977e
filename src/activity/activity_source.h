#pragma once
// ActivitySource: reports the CPU time that each process used since the previous scan. Implementations: bpf/ and
// procfs/.
// Only the collection thread owns and calls a source.
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
#include "status/activity_status.h"

namespace kepler::activity {

/// Index of a process in the source's table. The index is stable while the process lives. The index is reused only
/// after the sample that reported the process in `exited`.
using Slot = uint32_t;

/// Returns the index of a free element: the last entry of `free`, or a new element at the end of `elements` if `free`
/// is empty.
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
  uint32_t version = 0;                       // increases when info changes (comm, exe, uid, cgroup); 0 is never used
  Nanoseconds cpu{0};  // CPU time since the previous scan, or since process start if that is later; >= 0
  HardwareEvents events{};
};

/// A process that exited since the previous scan.
struct ExitedSample {
  Slot slot = 0;
  Nanoseconds cpu{0};  // CPU time of the last slice (bpf). Always 0 in procfs: the time is then in `residuals`.
  HardwareEvents events{};
  // Labels of the process in its last slice, if exec changed them since the latest scan; otherwise null and 0.
  const cgroup::ProcessInfo* info = nullptr;  // owned by the source, valid until the next Sample()
  uint32_t version = 0;
};

/// A process that started and exited between two scans.
/// `late_remainder` marks CPU time of a process that an earlier sample reported as exited.
/// Only bpf reports these samples. In procfs the time is in `residuals`.
struct ShortLivedSample {
  ProcessKey key;
  std::string_view comm;                        // valid until the next Sample(), as are exe and cgroups
  std::string_view exe;                         // the path given to exec; "" if unknown
  uint32_t uid = kUnknownUid;                   // real user id at its end
  const cgroup::Membership* cgroups = nullptr;  // never null; has no lines if the cgroups are unknown
  Nanoseconds cpu{0};
  HardwareEvents events{};
  bool late_remainder = false;
};

/// CPU time that a cgroup used and that no known process used: short-lived processes and last slices.
struct ResidualSample {
  cgroup::CgroupPtr cgroup;  // the owning cgroup: the nearest one that exists
  Nanoseconds cpu{0};        // > 0
};

/// A process that continues under another slot.
struct MovedProcess {
  Slot from = 0;
  Slot to = 0;
};

struct ActivitySample {
  BootTime taken_at{};                   // middle of the pass over the processes
  std::vector<ProcessSample> processes;  // every living process, ascending pid; includes processes with cpu 0
  std::vector<ExitedSample> exited;
  std::vector<ShortLivedSample> short_lived;
  std::vector<ResidualSample> residuals;
  Nanoseconds invisible{0};  // CPU time of tasks that the agent cannot see: unattributed
  Nanoseconds lost{0};       // CPU time of processes whose records were dropped: unattributed
  /// Another source has taken over. `exited`, `short_lived` and `residuals` hold the last results of the old source and
  /// use its slots. All other slots of this sample and of later samples belong to the new source. A process that is not
  /// in `moved` is gone.
  bool renumbered = false;
  std::vector<MovedProcess> moved;

  /// Clears the sample; the vectors keep their memory.
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

/// State that a stopping source passes to the source that replaces it.
struct Handover {
  struct Process {
    ProcessKey key;
    Slot slot = 0;
    Nanoseconds cpu{0};  // CPU time from process start to the latest good scan
  };
  BootTime scanned_at{};           // start of that scan; {} if there was no good scan
  std::vector<Process> processes;  // known processes that were alive at that scan
};

class ActivitySource {
 public:
  virtual ~ActivitySource() = default;
  /// Runs one scan and fills `out`. The vectors of `out` are reused: no allocation in the steady state. The first scan
  /// reports every process with cpu 0: CPU time from before the agent's startup is unattributed. An error means that no
  /// process could be listed. `out` is then empty, and the next scan covers the time since the last good scan.
  virtual Status Sample(ActivitySample& out) = 0;
  /// Stops the source; Sample() must not be called afterwards. `last` gets the known results of processes that exited
  /// since the latest good scan: exited, short-lived, residuals and lost. The pointers in `last` are valid while the
  /// source lives.
  virtual Handover HandOver(ActivitySample& last) {
    last.Clear();
    return {};
  }
  /// A descriptor that becomes readable when Drain() must be called before the next scan; -1 if the source has none.
  [[nodiscard]] virtual int WakeFd() const { return -1; }
  /// Reads the pending records for the next Sample(). The call is cheap and is allowed at any time between scans.
  virtual void Drain() {}
  /// Cgroups that exist as of the last scan, with or without processes: a container without a process is still
  /// "running".
  [[nodiscard]] virtual std::span<const cgroup::CgroupPtr> LivingCgroups() const = 0;
  [[nodiscard]] virtual const status::ActivityStatus& status() const = 0;
};

}  // namespace kepler::activity
