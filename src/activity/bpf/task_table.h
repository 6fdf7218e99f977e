#pragma once
// TaskTable: processes from threads. A pass over all living threads and the records of those that died become what an
// ActivitySample says. No system call but what ProcessFiles does for the labels of new processes.
//
// What a process ran = Σ its living threads + its dead ones: the larger of the kernel's own sum of these and the sum of
// their records, neither of which is ever too large (docs/ARCHITECTURE.md). The kernel's sum is the one that the first
// row of a process in a pass has: a thread that dies behind it is counted in its row or not at all.
//
//              first row               a pass does not show it
//     kFree ─────────────────► kLiving ◄──────────────────────────► kMissing
//       ▲                         │    it does again                    │ no record for 5 s, or its pid is in use
//       again: │ next scan               │ record of its end                   │ remembered (LetGo) │ ▼ ▼
//       └──────────────────── kLeaving ◄── reported as exited ── kEnded, or at once
//
// A process that the pass does not show any more is missing until the record of its leader arrives, which has the final
// figures of the whole; until then it stays in the sample. One that had threads stays for a scan more: their records
// may be behind. Whoever leaves without a record is remembered (LetGo), so that nothing is given out twice if it comes.
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

/// A pass over the living.
struct PassId {
  BootTime begin{};
  uint64_t number = 0;
};

class TaskTable {
 public:
  /// Both must outlive the table.
  TaskTable(CgroupDirectory& cgroups, ProcessFiles& files) : cgroups_(cgroups), labels_(cgroups, files, short_lived_) {}

  // Between passes, in the order in which the kernel wrote them:
  void AddFreed(const kepler_task& task);
  void AddExec(int32_t tgid, uint64_t start, std::string_view path);
  /// It was put into another cgroup. `before`: what it had used by then, without its other living threads.
  void AddMove(int32_t tgid, uint64_t start, const RanElsewhere& before);
  /// A process whose record the ring had no room for. The time of one that nobody knew is lost(); it is returned.
  Nanoseconds AddDropped(const kepler_dropped& process);
  /// What a process runs, for those whose /proc/PID/exe may not be read.
  void AddExecutable(int32_t tgid, uint64_t start, std::string_view path);
  /// exec records were dropped: every exe is read again, some at each scan.
  void DoubtExes() { labels_.DoubtExes(listed_); }

  /// The number of the latest pass.
  [[nodiscard]] uint64_t scan() const { return scan_; }
  /// Between passes: calls `visit(cgroups, time)` for what the next sample will report of processes that were over
  /// before `pass`, in which they were not seen; without what they ran elsewhere. What `visit` returns of it is taken
  /// away.
  template <class Visit>
  void ForEachOver(const PassId& pass, Visit&& visit);

  // One scan: BeginPass, AddRow for each row, EndPass. A pass that fails half-way just begins again: figures of living
  // threads are totals, so that the next one covers it.
  void BeginPass(BootTime now);
  void AddRow(const kepler_task& row);
  /// Of this pass, behind its rows: whether one of them was of this process.
  [[nodiscard]] bool Shows(int32_t tgid);
  /// A process that the kernel does not show to BPF: `row.ran` is what it ran in all, dead threads too, `row.start` in
  /// whole clock ticks, `row.group` 0. It counts from the first of them on. If the kernel shows it later, or reports
  /// its end, it goes on as the same process.
  void AddHidden(const kepler_task& row);
  /// It is gone. What a record may say of its end still is reported as a late remainder.
  void EndHidden(int32_t tgid);
  /// Fills processes, exited and short-lived processes of `out`, which are empty.
  void EndPass(ActivitySample& out);

  /// No pass follows. Who ended since the latest sample goes to `last`; returns who lived then, with all it was given.
  [[nodiscard]] std::vector<Handover::Process> HandOver(ActivitySample& last);

  /// Of what the latest sample gave to living and ended processes: what they ran elsewhere, before they were moved.
  struct Moved {
    Slot slot = 0;
    Nanoseconds before{0};
    uint64_t from = 0;     // RanElsewhere's
    bool at_most = false;  // how much of it is not known: other threads lived
  };
  [[nodiscard]] std::span<const Moved> moved() const { return moved_; }
  /// The same of its i-th short-lived process.
  [[nodiscard]] const RanElsewhere& MovedOfShortLived(size_t i) const { return short_lived_.MovedOf(i); }

  /// Time of processes that cannot be reported any more: dropped, or too many between two scans. Total.
  [[nodiscard]] Nanoseconds lost() const { return lost_ + short_lived_.unheld_time(); }
  /// Their number, of those that had a record.
  [[nodiscard]] uint64_t unheld() const { return short_lived_.unheld(); }

  /// A process without its last record is let go after so long.
  static constexpr Nanoseconds kMaxDelay = std::chrono::seconds(5);
  /// If the record comes after all, what was given out already is known for so long.
  static constexpr Nanoseconds kRemembered = std::chrono::minutes(10);

 private:
  enum class State : uint8_t {
    kFree,
    kLiving,   // a pass has shown it
    kMissing,  // not shown, and no record has come
    kEnded,    // its end is known: by a record, or by who reads hidden ones
    kLeaving   // the latest sample had its last word: free from the next scan on
  };
  struct Process {
    State state = State::kFree;
    int32_t tgid = 0;
    uint64_t start = 0;
    uint64_t group = 0;       // 0: hidden, and `start` is in whole clock ticks
    uint64_t scan = 0;        // the latest pass that showed it
    Tally live;               // in that pass
    uint64_t kernel_sum = 0;  // in that pass: dead threads as the kernel adds them up
    Tally dead;               // records of dead threads, on top of what the first pass found
    RanElsewhere moved{};     // what it ran until it was moved, if that was since the latest scan
    Tally given;              // to its account, and what it used before the agent looked
    bool threaded = false;    // it had other threads, whose records may come behind the leader's
    uint64_t ended_at = 0;    // the scan before the leader's record
    BootTime missing_since{};
    [[nodiscard]] bool ended() const { return state == State::kEnded; }
    [[nodiscard]] bool listed() const { return state != State::kFree && state != State::kLeaving; }
  };
  /// Was let go before its leader's record came: its pid was in use again, or it took too long.
  struct LetGo {
    Tally dead;
    Tally given;
    std::string exe;
    BootTime since{};
    bool reported = false;  // by a sample
  };

  using LetGos = boost::unordered_flat_map<std::pair<int32_t, uint64_t>, LetGo>;  // by tgid and start

  /// Who has that id now; null for nobody. The other one: only if it is the process that began then.
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
  std::vector<Slot> leaving_;  // reported as exited in the latest sample: free from the next scan on
  std::vector<Slot> shown_;    // by this pass
  bool reported_ = true;       // what the latest pass showed
  std::vector<Slot> listed_;   // in the latest sample
  std::vector<Slot> replaced_slots_;
  std::vector<Slot> over_;  // ended, and the end is not reported yet
  LetGos let_go_;
  uint64_t scan_ = 0;
  BootTime now_{};
  uint64_t first_scan_ = 0;  // ns since boot; 0: none yet
  Slot latest_ = 0;          // of the previous row
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
  short_lived_.ForEachOlder(begin, [&](const kepler_task& leader, Tally& tally, uint64_t moved) {
    if (tally.ran <= moved) return;
    tally.ran -= take(*cgroups_.Find({leader.cgroup_v2, leader.cgroup_cpuacct}), tally.ran - moved);
  });
}

}  // namespace kepler::activity::bpf
