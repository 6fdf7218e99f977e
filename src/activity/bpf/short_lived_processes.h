#pragma once
// ShortLivedProcesses: processes that started after the latest scan, so no scan has shown them. The kernel reports them
// by records: one for each exited thread, one for each executed program, and at last one for the exited leader (the
// first thread of a process). Collection thread only.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "activity/activity_source.h"
#include "activity/bpf/cgroup_directory.h"
#include "base/hardware_events.h"
#include "bpf/abi.h"

namespace kepler::activity::bpf {

/// CPU time and events of one or more threads.
struct Tally {
  uint64_t ran = 0;  // ns
  HardwareEvents events{};

  void Add(uint64_t time, const HardwareEvents& more) {
    ran += time;
    events += more;
  }
  void Add(const kepler_task& task) { Add(task.ran, EventsOf(task)); }
  [[nodiscard]] static HardwareEvents EventsOf(const kepler_task& task) {
    return {task.counters[0], task.counters[1], task.counters[2]};
  }
};

/// Returns `now` minus `before`, at least 0.
[[nodiscard]] inline uint64_t Above(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }
[[nodiscard]] inline Tally Above(const Tally& now, const Tally& before) {
  return {Above(now.ran, before.ran),
          {Above(now.events.cycles, before.events.cycles), Above(now.events.instructions, before.events.instructions),
           Above(now.events.cache_misses, before.events.cache_misses)}};
}

/// CPU time that a process used in its previous cgroup.
struct RanElsewhere {
  uint64_t ran = 0;   // ns
  uint64_t from = 0;  // id of a cgroup in the accounted hierarchy; 0: unknown
};

class ShortLivedProcesses {
 public:
  /// Adds the record of an exited thread other than the leader, of a process that no scan has shown.
  void AddThread(const kepler_task& task);
  /// Returns and drops the total of the exited threads of a process that a scan has shown for the first time.
  [[nodiscard]] Tally TakeThreads(const kepler_task& process);

  void AddExec(int32_t tgid, uint64_t start, std::string_view path);
  /// Returns the path that the process executed last; "" if unknown. Valid until the next non-const call.
  [[nodiscard]] std::string_view ExecOf(int32_t tgid, uint64_t start) const;
  /// Returns the path for the current process with that id.
  [[nodiscard]] std::string_view ExecOf(int32_t tgid) const;
  /// Drops the path. Call when the process has ended, or when the caller of ExecOf() has its own copy.
  void ForgetExec(int32_t tgid) { execs_.erase(tgid); }

  /// Records CPU time that the process used before it was moved to its current cgroup.
  void AddMove(int32_t tgid, uint64_t start, const RanElsewhere& move);
  /// Returns and drops the recorded move. The result is empty without a move.
  [[nodiscard]] RanElsewhere TakeMove(int32_t tgid, uint64_t start);

  /// Call when the process has ended. `exe`: the path to report if the process executed no program itself.
  void End(const kepler_task& leader, std::string_view exe);
  /// Adds a process that has ended and that no sample has reported. `late_remainder`: the last slice of a process whose
  /// end was reported before its record came.
  void Add(const kepler_task& leader, const Tally& slice, std::string_view exe, bool late_remainder = false);

  /// Total CPU time and number of short-lived processes above the limit of kMaxPending between two scans. They are not
  /// reported one by one.
  [[nodiscard]] Nanoseconds unheld_time() const { return unheld_time_; }
  [[nodiscard]] uint64_t unheld() const { return unheld_; }

  /// Returns the CPU time that process `i` of the latest Report() used elsewhere, before it was moved.
  [[nodiscard]] const RanElsewhere& MovedOf(size_t i) const { return reported_[i].moved; }
  /// Adds the thread time that arrived after the record of the leader to the next Report().
  void AddDelayedThreads();
  /// Calls `visit(leader, tally, moved)` for each process of the next Report() that started before `start`.
  template <class Visit>
  void ForEachOlder(uint64_t start, Visit&& visit) {
    for (ShortLived& process : fresh_)
      if (process.leader.start < start) visit(process.leader, process.tally, process.moved.ran);
  }

  /// Fills the short-lived processes of `out`. Their pointers are valid until the next Report().
  void Report(CgroupDirectory& cgroups, ActivitySample& out);
  /// Drops threads and paths of processes without recent records. Call once per scan.
  void Age();

  /// Maximum delay of a record, in scans.
  static constexpr uint64_t kMaxScans = 3;
  /// Maximum number of entries of one kind between two scans, regardless of the scan interval.
  static constexpr size_t kMaxPending = 65'536;

 private:
  struct Threads {
    Tally tally;
    uint64_t earliest = UINT64_MAX;  // earliest start of the threads
    uint64_t scan = 0;
  };
  struct Exec {
    uint64_t start = 0;
    std::string path;
    uint64_t scan = 0;
  };
  struct Move {
    uint64_t start = 0;
    RanElsewhere move;
    uint64_t scan = 0;
  };
  struct ShortLived {
    kepler_task leader{};
    Tally tally;
    std::string exe;
    Tally records{};  // sum of the records; `tally` is larger if the kernel's own sum was larger
    bool late_remainder = false;
    RanElsewhere moved{};  // part of `tally` from before the move
  };

  boost::unordered_flat_map<std::pair<uint64_t, int32_t>, Threads>
      threads_;                                     // by group and tgid, because each number alone may be reused
  boost::unordered_flat_map<int32_t, Exec> execs_;  // by tgid
  boost::unordered_flat_map<int32_t, Move> moves_;  // by tgid
  std::vector<ShortLived> threaded_;  // copies from fresh_ of processes whose thread records may arrive late
  std::vector<ShortLived> waiting_;   // copies from reported_ of such processes
  std::vector<ShortLived> fresh_;
  std::vector<ShortLived> reported_;
  uint64_t scan_ = 0;
  uint64_t unheld_ = 0;
  Nanoseconds unheld_time_{0};
};

}  // namespace kepler::activity::bpf
