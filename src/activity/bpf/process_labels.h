#pragma once
// ProcessLabels: comm, exe and cgroups of the processes of a TaskTable, by slot. Labels are read again only after a
// sign of change. Collection thread only.
#include <cstdint>
#include <span>
#include <vector>

#include "activity/activity_source.h"
#include "activity/bpf/cgroup_directory.h"
#include "activity/bpf/process_files.h"
#include "activity/bpf/short_lived_processes.h"
#include "base/clock.h"
#include "bpf/abi.h"
#include "cgroup/cgroup.h"

namespace kepler::activity::bpf {

class ProcessLabels {
 public:
  struct Entry {
    kepler_task leader{};  // comm, cgroups and user of the leader's latest row
    cgroup::ProcessInfo info;
    uint32_t version = 0;   // 0: no sample has shown the labels yet
    uint32_t reported = 0;  // version in the latest sample
    bool stale = true;
    bool read_exe = true;
  };
  /// State of a process, which decides where its labels can be read.
  enum class Life : uint8_t {
    kLives,
    kUnseen,  // the process may be gone, so /proc may show the cgroups of another process
    kEnded    // /proc has no file of the process
  };

  /// All arguments must outlive the labels.
  ProcessLabels(CgroupDirectory& cgroups, ProcessFiles& files, ShortLivedProcesses& short_lived)
      : cgroups_(cgroups), files_(files), short_lived_(short_lived) {}

  /// Call when a process has taken the slot.
  void Arrive(Slot slot, const kepler_task& row);
  /// Call when the slot is free. The labels are dropped.
  void Leave(Slot slot) { entries_[slot].info.cgroup = nullptr; }
  /// Call when the leader has a new row or record.
  void Note(Slot slot, const kepler_task& leader);
  /// Call when the process has executed a program.
  void DoubtExe(Slot slot) { entries_[slot].stale = entries_[slot].read_exe = true; }
  /// Call when any of these processes may have executed a program. Up to kMaxDoubts exes are read again at each scan.
  void DoubtExes(std::span<const Slot> slots) {
    if (doubted_.empty()) doubted_.assign(slots.begin(), slots.end());
  }
  void RefreshDoubted();
  /// Updates the labels. `start` and `hidden` are those of the process.
  void Refresh(Slot slot, uint64_t start, Life life, bool hidden, BootTime now);

  [[nodiscard]] Entry& operator[](Slot slot) { return entries_[slot]; }
  [[nodiscard]] const Entry& operator[](Slot slot) const { return entries_[slot]; }

  /// Number of exes that are read again per scan after exec records were dropped.
  static constexpr size_t kMaxDoubts = 256;

 private:
  /// `same_name`: the comm is unchanged.
  [[nodiscard]] bool RefreshExe(Entry& entry, uint64_t start, Life life, bool hidden, bool same_name, BootTime now);

  CgroupDirectory& cgroups_;
  ProcessFiles& files_;
  ShortLivedProcesses& short_lived_;
  std::vector<Entry> entries_;
  std::vector<Slot> doubted_;  // processes with an exe to be read again
};

}  // namespace kepler::activity::bpf
