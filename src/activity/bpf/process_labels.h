#pragma once
// ProcessLabels: who the processes of a TaskTable are, by slot: comm, exe and cgroups, read again only where something
// hints at a change. Collection thread only.
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
    kepler_task leader{};  // comm, cgroups and flags of its latest row
    cgroup::ProcessInfo info;
    uint32_t version = 0;   // 0: no sample has shown it yet
    uint32_t reported = 0;  // the version of the latest sample
    bool stale = true;
    bool read_exe = true;
  };
  /// What is left of a process to read labels from.
  enum class Life : uint8_t {
    kLives,
    kUnseen,  // it may have gone: /proc may show somebody else's cgroups
    kEnded    // no file of it is there
  };

  /// All must outlive the labels.
  ProcessLabels(CgroupDirectory& cgroups, ProcessFiles& files, ShortLivedProcesses& short_lived)
      : cgroups_(cgroups), files_(files), short_lived_(short_lived) {}

  /// A process has taken the slot.
  void Arrive(Slot slot, const kepler_task& row);
  /// The slot is free: nothing is kept for it.
  void Leave(Slot slot) { entries_[slot].info.cgroup = nullptr; }
  /// Its leader has a new row or record.
  void Note(Slot slot, const kepler_task& leader);
  /// It executed something.
  void DoubtExe(Slot slot) { entries_[slot].stale = entries_[slot].read_exe = true; }
  /// Any of these may have: some are read again at each scan.
  void DoubtExes(std::span<const Slot> slots) {
    if (doubted_.empty()) doubted_.assign(slots.begin(), slots.end());
  }
  void RefreshDoubted();
  /// Brings them up to date. `start`, `hidden`: of the process.
  void Refresh(Slot slot, uint64_t start, Life life, bool hidden, BootTime now);

  [[nodiscard]] Entry& operator[](Slot slot) { return entries_[slot]; }
  [[nodiscard]] const Entry& operator[](Slot slot) const { return entries_[slot]; }

  /// Exes read again per scan where exec records were dropped.
  static constexpr size_t kMaxDoubts = 256;

 private:
  /// `same_name`: its comm is what it was.
  [[nodiscard]] bool RefreshExe(Entry& entry, uint64_t start, Life life, bool hidden, bool same_name, BootTime now);

  CgroupDirectory& cgroups_;
  ProcessFiles& files_;
  ShortLivedProcesses& short_lived_;
  std::vector<Entry> entries_;
  std::vector<Slot> doubted_;  // whose exe is to be read again
};

}  // namespace kepler::activity::bpf
