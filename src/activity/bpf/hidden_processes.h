#pragma once
// HiddenProcesses: processes that /proc shows and the kernel's iterator over tasks does not (docs/ARCHITECTURE.md).
// Once found, each is handed to the table as a row of its own; what it used before is in the residual of its cgroup.
// Collection thread only.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "activity/bpf/task_table.h"
#include "activity/process_reader.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "cgroup/tree.h"
#include "os/dirents.h"

namespace kepler::activity::bpf {

class HiddenProcesses {
 public:
  /// `procfs`: as for ProcessFiles. `trees`: for the ids of cgroups.
  HiddenProcesses(std::string procfs, cgroup::Trees trees)
      : procfs_(std::move(procfs)), trees_(std::move(trees)), reader_(ProcessReader::SourceFor(procfs_)) {}

  /// Right before a pass: lists /proc, if that is due.
  void BeforePass(BootTime now);
  /// Right behind the rows of that pass: adds those of the hidden ones, and ends those that are gone.
  void AfterPass(TaskTable& table);

  [[nodiscard]] size_t size() const { return hidden_.size(); }
  /// Total so far.
  [[nodiscard]] uint64_t found() const { return found_; }
  /// Reads that failed, but for those of processes that are gone.
  [[nodiscard]] uint64_t failed() const { return failed_; }

  /// A little less than a minute, so that scans a minute apart are not two.
  static constexpr Nanoseconds kPeriod = std::chrono::seconds(58);

 private:
  struct Hidden {
    kepler_task row{};
    uint64_t start_ticks = 0;
    bool knows_cgroups = false;
  };

  void FindNew(TaskTable& table);
  [[nodiscard]] bool Read(Hidden& hidden, bool again);
  /// An error that is not kNotFound says nothing about whether it lives.
  [[nodiscard]] Result<Hidden> Identify(int32_t pid);
  [[nodiscard]] bool FillCgroups(kepler_task& row);
  void Count(const Error& error);

  std::string procfs_;
  cgroup::Trees trees_;
  ProcessReader reader_;
  std::optional<os::PidLister> lister_;
  std::vector<os::ListedPid> listed_;  // before the pass at hand; empty if there was no listing
  std::optional<BootTime> listed_at_;
  std::vector<Hidden> hidden_;
  uint64_t found_ = 0;
  uint64_t failed_ = 0;
  BootTime now_{};
  log::LogLimiter limiter_{std::chrono::hours(24)};
};

}  // namespace kepler::activity::bpf
