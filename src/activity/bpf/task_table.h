#pragma once
// TaskTable: builds processes from threads. Turns a pass over all living threads and the records of dead threads into
// an ActivitySample. Only ProcessFiles makes system calls, for the labels of new processes.
//
// CPU time of a process = Σ living threads + dead threads. The time of the dead threads is the larger of two values:
// the kernel's own sum, and the sum of their records. Neither value is ever too large (docs/ARCHITECTURE.md). A pass
// reads the kernel's sum once for each process, with its first row. A thread that dies later in the pass is counted in
// its own row or not at all.
//
//              first row         a pass does not show it │ shows it again
//     kFree ─────────────► kLiving ◄────────────────────────► kMissing ──────┐ no record for 5 s, or its pid is
//       ▲                     └───────► kEnded ◄── record of its end ──┘     │ reused: remembered (LetGo)
//       │ next scan                       │ reported as exited               │
//       └────── kLeaving ◄────────────────┴──────────────────────────────────┘
//
// A process that the pass no longer shows is missing until the record of its leader arrives. That record has the final
// totals of the process. Until then the process stays in the sample. A process that had threads stays for one more
// scan: their records may be delayed. A process that leaves without a record is remembered (LetGo), so that a delayed
// record is not given out twice.
// Collection thread only.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "activity/activity_source.h"
#include "activity/bpf/cgroup_directory.h"
#include "activity/bpf/process_files.h"
#include "activity/bpf/process_labels.h"
#include "activity/bpf/short_lived_processes.h"
#include "base/clock.h"
#include "bpf/abi.h"
#include "cgroup/cgroup.h"

namespace kepler::activity::bpf {

/// Identifies a pass over the living threads.
struct PassId {
  BootTime begin{};
  uint64_t number = 0;
};

class TaskTable {
 public:
  /// Both must outlive the table.
  TaskTable(CgroupDirectory& cgroups, ProcessFiles& files) : cgroups_(cgroups), labels_(cgroups, files, short_lived_) {}

  // Between passes, call these functions in the order in which the kernel wrote the records:
  void AddFreed(const kepler_task& task);
  void AddExec(int32_t tgid, uint64_t start, std::string_view path);
  /// Call when the process was moved to another cgroup. `before`: its CPU time until then, without other living
  /// threads.
  void AddMove(int32_t tgid, uint64_t start, const RanElsewhere& before);
  /// Adds a process whose record was dropped because the ring was full. The time of an unknown process is added to
  /// lost() and returned.
  Nanoseconds AddDropped(const kepler_dropped& process);
  /// Adds the executable of a process whose /proc/PID/exe is unreadable.
  void AddExecutable(int32_t tgid, uint64_t start, std::string_view path);
  /// Call when exec records were dropped. Every exe is then read again, some at each scan.
  void DoubtExes() { labels_.DoubtExes(listed_); }

  /// Number of the latest pass.
  [[nodiscard]] uint64_t scan() const { return scan_; }
  /// Between passes, visits processes that ended before `pass` and were not seen in it. Calls `visit(cgroups, time)`
  /// for their time in the next sample, without time used elsewhere. The time that `visit` returns is subtracted.
  template <class Visit>
  void ForEachOver(const PassId& pass, Visit&& visit);
  /// Between passes, visits the other processes with thread records that arrived after the latest pass. Calls
  /// `visit(cgroups, time)` for the CPU time of the threads that were older than the pass. Some ended before the pass,
  /// and the kernel's sum lacks part of their time until the record comes.
  template <class Visit>
  void ForEachDelayed(const PassId& pass, Visit&& visit) const;

  // One scan: BeginPass, AddRow for each row, EndPass. After a failed pass, call BeginPass again. Values of living
  // threads are totals, so the next pass covers the failed pass.
  void BeginPass(BootTime now);
  void AddRow(const kepler_task& row);
  /// Returns true if a row of this pass belongs to this process. Call behind the rows.
  [[nodiscard]] bool Shows(int32_t tgid);
  /// Between passes: true if the latest pass has shown this process of the latest sample, and no record of its end has
  /// arrived since.
  [[nodiscard]] bool AwaitsEnd(Slot slot) const {
    return processes_[slot].state == State::kLiving && processes_[slot].group != 0;
  }
  /// Adds a process that the kernel hides from BPF. `row.ran` is the total CPU time, including dead threads.
  /// `row.start` is in whole clock ticks; `row.group` is 0. The process counts from its first hidden row on. If the
  /// kernel shows it later, or reports its end, it continues as the same process.
  void AddHidden(const kepler_task& row);
  /// Ends a hidden process. CPU time in a later record is reported as a late remainder.
  void EndHidden(int32_t tgid);
  /// Fills processes, exited and short-lived processes of `out`, which must be empty.
  void EndPass(ActivitySample& out);

  /// Ends the table; no pass follows. `last` gets processes that ended since the latest sample. Returns the processes
  /// that were alive then, with all CPU time given to them.
  [[nodiscard]] std::vector<Handover::Process> HandOver(ActivitySample& last);

  /// Part of the latest sample's time of living and ended processes that they used elsewhere, before they were moved.
  struct Moved {
    Slot slot = 0;
    Nanoseconds before{0};
    uint64_t from = 0;     // same as RanElsewhere::from
    bool at_most = false;  // the time is an upper limit, because other threads lived
  };
  [[nodiscard]] std::span<const Moved> moved() const { return moved_; }
  /// Same as above, for short-lived process `i`.
  [[nodiscard]] const RanElsewhere& MovedOfShortLived(size_t i) const { return short_lived_.MovedOf(i); }

  /// Total CPU time of processes that cannot be reported: dropped records, or too many between two scans.
  [[nodiscard]] Nanoseconds lost() const { return lost_ + short_lived_.unheld_time(); }
  /// Number of unreported processes that had a record.
  [[nodiscard]] uint64_t unheld() const { return short_lived_.unheld(); }

  /// Maximum wait for the last record of a process.
  static constexpr Nanoseconds kMaxDelay = std::chrono::seconds(5);
  /// Time for which the table remembers what was given out, in case the record is delayed further.
  static constexpr Nanoseconds kRemembered = std::chrono::minutes(10);

 private:
  enum class State : uint8_t {
    kFree,
    kLiving,   // a pass has shown the process
    kMissing,  // not shown, and no record has arrived
    kEnded,    // the end is known from a record or from HiddenProcesses
    kLeaving   // reported for the last time: the slot becomes free at the next scan
  };
  struct Process {
    State state = State::kFree;
    int32_t tgid = 0;
    uint64_t start = 0;
    uint64_t group = 0;       // 0: the process is hidden, and `start` is in whole clock ticks
    uint64_t scan = 0;        // latest pass that showed the process
    Tally live;               // in that pass
    uint64_t kernel_sum = 0;  // in that pass: the kernel's sum of dead threads
    Tally dead;               // records of dead threads since the first pass
    uint64_t delayed = 0;     // ns: records of threads that started before the latest pass and arrived after it
    RanElsewhere moved{};     // time before the latest move, if that was after the latest scan
    Tally given;              // time given to the process, and time from before the agent's startup
    bool threaded = false;    // had other threads: their records may follow the leader's
    uint64_t ended_at = 0;    // number of the scan before the record of the leader
    BootTime missing_since{};
    [[nodiscard]] bool ended() const { return state == State::kEnded; }
    [[nodiscard]] bool listed() const { return state != State::kFree && state != State::kLeaving; }
  };
  /// A process that left before its leader's record came: its pid was reused, or the record took too long.
  struct LetGo {
    Tally dead;
    Tally given;
    std::string exe;
    BootTime since{};
    bool reported = false;  // a sample has reported the process
  };

  using LetGos = boost::unordered_flat_map<std::pair<int32_t, uint64_t>, LetGo>;  // by tgid and start

  /// Returns the process with that id, or null. The overload with a start time also compares that time.
  [[nodiscard]] Process* Find(int32_t tgid);
  [[nodiscard]] Process* Find(int32_t tgid, uint64_t start);
  [[nodiscard]] Slot SlotOf(const Process& process) const { return static_cast<Slot>(&process - processes_.data()); }
  Process* FindOfThread(const kepler_task& task);
  LetGos::iterator FindLetGo(int32_t tgid, uint64_t start);
  static void Identify(Process& process, uint64_t start, uint64_t group);
  Slot Arrive(const kepler_task& row);
  void Replace(Slot slot);
  void EndKnown(Slot slot, const kepler_task& leader);
  void End(Slot slot, uint64_t kernel_sum);
  bool EndLetGo(const kepler_task& leader);
  void LetGoOf(Slot slot);
  void RefreshLabels(Slot slot);
  [[nodiscard]] static Tally Fresh(const Process& process);
  Tally Give(Slot slot);
  void SortByPid(std::vector<ProcessSample>& processes) const;
  [[nodiscard]] bool Counts(Slot slot) const;
  void ReportLiving(Slot slot, bool counts, ActivitySample& out);
  void ReportMissing(Slot slot, ActivitySample& out);
  void ReportExit(Slot slot, const Tally& slice, ActivitySample& out);
  [[nodiscard]] std::string_view InheritedExe(const kepler_task& child) const;

  CgroupDirectory& cgroups_;
  ShortLivedProcesses short_lived_;
  ProcessLabels labels_;
  boost::unordered_flat_map<int32_t, Slot> by_tgid_;
  std::vector<Process> processes_;  // by slot
  std::vector<Slot> free_;
  std::vector<Slot> leaving_;  // slots reported as exited in the latest sample, which become free at the next scan
  std::vector<Slot> shown_;    // shown by this pass
  bool reported_ = true;       // the results of the latest pass were reported
  std::vector<Slot> listed_;   // slots in the latest sample
  std::vector<Slot> replaced_slots_;
  std::vector<Slot> over_;     // ended, but not reported yet
  std::vector<Slot> delayed_;  // with Process::delayed
  LetGos let_go_;
  uint64_t scan_ = 0;
  BootTime now_{};
  uint64_t first_scan_ = 0;  // ns since boot; 0: none yet
  Slot latest_ = 0;          // slot of the previous row
  Nanoseconds lost_{0};
  std::vector<Moved> moved_;
};

template <class Visit>
void TaskTable::ForEachOver(const PassId& pass, Visit&& visit) {
  const auto take = [&](const cgroup::Membership& cgroups, uint64_t ran) {
    return ran == 0 ? 0 : static_cast<uint64_t>(visit(cgroups, Nanoseconds(static_cast<int64_t>(ran))).count());
  };
  for (const Slot slot : over_) {
    Process& process = processes_[slot];
    if (process.scan >= pass.number) continue;
    process.given.ran += take(*labels_[slot].info.cgroup, Fresh(process).ran);
  }
  const auto begin = static_cast<uint64_t>(pass.begin.time_since_epoch().count());
  short_lived_.AddDelayedThreads();
  short_lived_.ForEachOlder(begin, [&](const kepler_task& leader, Tally& tally, uint64_t moved) {
    if (tally.ran <= moved) return;
    tally.ran -= take(*cgroups_.Find({leader.cgroup_v2, leader.cgroup_cpuacct}), tally.ran - moved);
  });
}

template <class Visit>
void TaskTable::ForEachDelayed(const PassId& pass, Visit&& visit) const {
  for (const Slot slot : delayed_) {
    const Process& process = processes_[slot];
    if (process.ended() && process.scan < pass.number) continue;
    visit(*labels_[slot].info.cgroup, Nanoseconds(static_cast<int64_t>(process.delayed)));
  }
}

}  // namespace kepler::activity::bpf
