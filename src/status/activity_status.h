#pragma once
// Status of the activity source. Filled by activity/. Counters are totals since startup.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/time_accounting.h"
#include "base/units.h"

namespace kepler::status {

/// Counts of one record kind from the kernel side of the activity source.
struct RecordCount {
  // A literal: "task", "exec", "cgroup". Only with `dropped`: "unreported" (tasks that ended without a record),
  // "skipped" (program runs skipped by the kernel), "slice" (slices with unknown hardware events).
  std::string_view kind;
  uint64_t taken = 0;
  uint64_t dropped = 0;
  bool only_dropped = false;  // there are no received records of this kind
};

/// Agreement between the CPU time given out and the kernel's usage of each cgroup.
struct AuditStatus {
  uint64_t comparisons = 0;  // one per compared cgroup
  Nanoseconds charged{0};    // CPU time given out as residuals because no known process used it
  double worst_ratio = 0;    // the largest |difference| ÷ used of the last one to two minutes
  BootTime last{};           // time of the latest usage reading; 0: no comparison yet
};

/// Status of the activity source. Filled by activity/.
struct ActivityStatus {
  std::string_view name;  // a literal: "bpf", "procfs"
  bool up = false;
  WallTime last_success{};    // epoch: never
  uint64_t vanished = 0;      // processes that ended between two reads: a normal event
  uint64_t failed_reads = 0;  // any other failure; each is explained once in the log
  uint64_t failed_cgroup_reads = 0;
  bool counts_events = false;  // samples have hardware events
  TimeAccounting time{};
  AuditStatus audit{};
  // Only for a source with a kernel side. Otherwise `records` is empty, and the other fields have no meaning.
  std::vector<RecordCount> records{};
  Nanoseconds lost{0};           // CPU time with an unknown owner
  Nanoseconds iterator_time{0};  // wall time of the passes over all tasks
  Nanoseconds program_time{0};   // time of the BPF programs, if kernel.bpf_stats_enabled is 1
  uint64_t program_runs = 0;
};

}  // namespace kepler::status
