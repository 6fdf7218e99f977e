#pragma once
// AwaitedEnds: waits, before a pass, for the records of processes that used much CPU time and have just ended.
//
// A process leaves the kernel's list of tasks when it is reaped. Its record arrives up to about 30 ms later (RCU; Linux
// kernel/exit.c: release_task(), delayed_put_task_struct()). A pass between the two gets neither: the time since the
// previous pass would be split with the energy of the next tick. Not covered are processes that no pass has shown, that
// became busy after the latest pass, or that are reaped between the look at /proc and the pass.
// Collection thread only.
#include <cstdint>
#include <utility>
#include <vector>

#include "activity/activity_source.h"
#include "activity/bpf/process_files.h"
#include "activity/bpf/task_table.h"
#include "base/clock.h"
#include "bpf/abi.h"

namespace kepler::activity::bpf {

class AwaitedEnds {
 public:
  /// Call after a scan. Remembers the processes with at least 1/64 of the sample's CPU time, so at most 64.
  void Note(const ActivitySample& sample);

  /// Call before a pass, with the ring drained. Calls `look()`, which pauses and drains the ring, until the records of
  /// the remembered processes that have left /proc are there, for at most kMaxWait. Then forgets all processes.
  template <class Look>
  void Await(const TaskTable& table, ProcessFiles& files, const Clock& clock, Look&& look) {
    std::erase_if(busy_, [&](const Busy& one) { return !table.AwaitsEnd(one.slot) || !files.HasLeft(one.pid); });
    // On a busy machine a pause takes many times longer than kPause, so the time limits the looks, not their number.
    const BootTime end = clock.Now() + kMaxWait;
    while (!busy_.empty() && clock.Now() < end) {
      look();
      std::erase_if(busy_, [&](const Busy& one) { return !table.AwaitsEnd(one.slot); });
    }
    busy_.clear();
  }

  static constexpr int kShares = 64;
  /// Less CPU time is not worth a pause.
  static constexpr Nanoseconds kMin = std::chrono::milliseconds(10);
  static constexpr Nanoseconds kPause = std::chrono::milliseconds(2);  // of a look
  static constexpr Nanoseconds kMaxWait{KEPLER_SOON_NS};

 private:
  struct Busy {
    int32_t pid = 0;
    Slot slot = 0;
  };
  std::vector<Busy> busy_;
};

}  // namespace kepler::activity::bpf
