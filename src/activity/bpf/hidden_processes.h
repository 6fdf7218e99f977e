#pragma once
// HiddenProcesses: finds processes that /proc shows but the kernel's task iterator does not (docs/ARCHITECTURE.md).
// Each hidden process becomes a row of the task table. Time that the process used earlier is in the residual of its
// cgroup. Collection thread only.
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
  /// `procfs`: same as for ProcessFiles. `trees`: used to find cgroup ids. `with_uids`: as in BpfOptions.
  HiddenProcesses(std::string procfs, cgroup::Trees trees, bool with_uids = false)
      : procfs_(std::move(procfs)), trees_(std::move(trees)), reader_(ProcessReader::SourceFor(procfs_), with_uids) {}

  /// Lists /proc if the period has passed. Call right before a pass.
  void BeforePass(BootTime now);
  /// Adds rows of hidden processes and ends those that are gone. Call after the rows of that pass.
  void AfterPass(TaskTable& table);

  [[nodiscard]] size_t size() const { return hidden_.size(); }
  /// Total number of hidden processes found.
  [[nodiscard]] uint64_t found() const { return found_; }
  /// Total number of failed reads, except reads of processes that are gone.
  [[nodiscard]] uint64_t failed() const { return failed_; }

  /// Slightly less than a minute, so that scans one minute apart each list /proc.
  static constexpr Nanoseconds kPeriod = std::chrono::seconds(58);

 private:
  struct Hidden {
    kepler_task row{};
    uint64_t start_ticks = 0;
    bool knows_cgroups = false;
  };

  void FindNew(TaskTable& table);
  [[nodiscard]] bool Read(Hidden& hidden, bool again);
  /// An error other than kNotFound does not show whether the process lives.
  [[nodiscard]] Result<Hidden> Identify(int32_t pid);
  [[nodiscard]] bool FillCgroups(kepler_task& row);
  void Count(const Error& error);

  std::string procfs_;
  cgroup::Trees trees_;
  ProcessReader reader_;
  std::optional<os::PidLister> lister_;
  std::vector<os::ListedPid> listed_;  // listed before the current pass; empty if there was no listing
  std::optional<BootTime> listed_at_;
  std::vector<Hidden> hidden_;
  uint64_t found_ = 0;
  uint64_t failed_ = 0;
  BootTime now_{};
  log::LogLimiter limiter_{std::chrono::hours(24)};
};

}  // namespace kepler::activity::bpf
