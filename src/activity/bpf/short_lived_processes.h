#pragma once
// ShortLivedProcesses: processes that no pass over the living has shown (yet), known through records alone: their
// threads as they die one by one, what they executed, and in the end their leader. Collection thread only.
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

/// What threads used up to some moment of their lives.
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

/// What `now` has more than `before`; never less than nothing.
[[nodiscard]] inline uint64_t Above(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }
[[nodiscard]] inline Tally Above(const Tally& now, const Tally& before) {
  return {Above(now.ran, before.ran),
          {Above(now.events.cycles, before.events.cycles), Above(now.events.instructions, before.events.instructions),
           Above(now.events.cache_misses, before.events.cache_misses)}};
}

struct RanElsewhere {
  uint64_t ran = 0;   // ns
  uint64_t from = 0;  // id of a cgroup in the accounted hierarchy; 0: unknown
};

class ShortLivedProcesses {
 public:
  /// A record of a thread (not the leader) whose process nobody knows.
  void AddThread(const kepler_task& task);
  /// A pass has shown the process at last: what its dead threads used.
  [[nodiscard]] Tally TakeThreads(const kepler_task& process);

  void AddExec(int32_t tgid, uint64_t start, std::string_view path);
  /// What the process executed last; "" if that is not known. Valid until the next call that is not const.
  [[nodiscard]] std::string_view ExecOf(int32_t tgid, uint64_t start) const;
  /// The same of whoever has that id now.
  [[nodiscard]] std::string_view ExecOf(int32_t tgid) const;
  /// The process is over, or a reader of ExecOf that knows it keeps the path itself.
  void ForgetExec(int32_t tgid) { execs_.erase(tgid); }

  /// The process ran before it was put where it is.
  void AddMove(int32_t tgid, uint64_t start, const RanElsewhere& move);
  /// What was added so; nothing where nothing was. It is forgotten.
  [[nodiscard]] RanElsewhere TakeMove(int32_t tgid, uint64_t start);

  /// The process is over. `exe`: what to say where it executed nothing itself.
  void End(const kepler_task& leader, std::string_view exe);
  /// The process is over, and no sample has reported anything of it; `late_remainder`: the last slice of one whose end
  /// was reported before its record came.
  void Add(const kepler_task& leader, const Tally& slice, std::string_view exe, bool late_remainder = false);

  /// Time, and number, of those that were too many between two scans to be reported one by one. Totals.
  [[nodiscard]] Nanoseconds unheld_time() const { return unheld_time_; }
  [[nodiscard]] uint64_t unheld() const { return unheld_; }

  /// Of the i-th of the latest Report(): what it ran elsewhere, before it was moved.
  [[nodiscard]] const RanElsewhere& MovedOf(size_t i) const { return reported_[i].moved; }
  /// Calls `visit(leader, tally, moved)` for each that the next Report() reports and that started before `start`.
  template <class Visit>
  void ForEachOlder(uint64_t start, Visit&& visit) {
    for (ShortLived& process : fresh_)
      if (process.leader.start < start) visit(process.leader, process.tally, process.moved.ran);
  }

  /// Fills short-lived processes of `out`. What it points to is valid until the next Report().
  void Report(CgroupDirectory& cgroups, ActivitySample& out);
  /// To call once per scan: forgets threads and paths whose process is not heard of any more.
  void Age();

  /// Scans after which a record is not late any more.
  static constexpr uint64_t kMaxScans = 3;
  /// Most of a kind that are held between two scans, however far apart these are.
  static constexpr size_t kMaxHeld = 65'536;

 private:
  void ReportLateThreads();

  struct Threads {
    Tally tally;
    uint64_t earliest = UINT64_MAX;  // start of one of them
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
    Tally records{};  // what `tally` was made from, where the kernel's sum was more
    bool late_remainder = false;
    RanElsewhere moved{};  // of `tally`
  };

  boost::unordered_flat_map<std::pair<uint64_t, int32_t>, Threads>
      threads_;                                     // by group and tgid: either alone may be in use again
  boost::unordered_flat_map<int32_t, Exec> execs_;  // by tgid
  boost::unordered_flat_map<int32_t, Move> moves_;  // by tgid
  std::vector<ShortLived> threaded_;                // of fresh_: records of their threads may be behind
  std::vector<ShortLived> waiting_;                 // the same of reported_
  std::vector<ShortLived> fresh_;
  std::vector<ShortLived> reported_;
  uint64_t scan_ = 0;
  uint64_t unheld_ = 0;
  Nanoseconds unheld_time_{0};
};

}  // namespace kepler::activity::bpf
