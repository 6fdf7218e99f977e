#pragma once
// Programs: the kernel side (bpf/activity.bpf.c), loaded and attached. What can be left out is left out where it does
// not load: an older kernel then costs a label, not the whole. Collection thread only.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "activity/bpf/perf_counters.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "bpf/abi.h"

struct activity_programs;  // NOLINT(readability-identifier-naming): bpftool's; only programs.cc sees it, and libbpf's
struct bpf_link;
struct ring_buffer;

namespace kepler::activity::bpf {

struct FreeBpf {
  void operator()(activity_programs* skeleton) const;
  void operator()(bpf_link* link) const;
  void operator()(ring_buffer* ring) const;
};
using Skeleton = std::unique_ptr<activity_programs, FreeBpf>;

struct ProgramsOptions {
  bool with_cpuacct = false;               // a v1 hierarchy accounts CPU time
  const PerfCounters* counters = nullptr;  // null: nothing on the context-switch path; must outlive the programs
  std::string btf_path = {};  // types of a kernel that does not report them itself; "": the running kernel's
  std::vector<std::string> leave_out = {};  // programs that are treated as if the kernel had refused them
};

/// What the programs cost, where kernel.bpf_stats_enabled is 1; else 0.
struct RunStats {
  Nanoseconds time{0};
  uint64_t runs = 0;
  uint64_t missed = 0;  // the kernel skipped them, to keep a program from running within itself (Linux 5.12)
};

class Programs {
 public:
  Programs(Programs&&) = delete;  // the ring calls back here
  /// Errors say what the kernel said; kPermission where a right is missing.
  static Result<std::unique_ptr<Programs>> Load(const ProgramsOptions& options);

  /// A new pass over all threads: rows of kepler_task until the end of the file.
  [[nodiscard]] Result<UniqueFd> OpenTasks();
  /// The executables of processes that started at `since` (ns since boot) or later: rows of kepler_executable.
  [[nodiscard]] Result<UniqueFd> OpenExecutables(uint64_t since);
  [[nodiscard]] bool reports_executables() const { return executables_ != nullptr; }
  [[nodiscard]] bool reports_cgroups() const { return reports_cgroups_; }
  [[nodiscard]] bool counts_events() const;

  /// Counts of the tasks that are running become visible to the next pass; only where counts_events(). Interrupts every
  /// processor once (BPF_F_TEST_RUN_ON_CPU, Linux 5.10).
  Status SplitSlices();

  /// When the latest pass began, ns since boot: what starts later has not been seen if its record is dropped.
  void SetLastScan(uint64_t since_boot);
  [[nodiscard]] kepler_totals Totals() const;
  [[nodiscard]] RunStats ReadRunStats() const;

  /// Becomes readable when the ring is half full, and stays so until it is empty.
  [[nodiscard]] int ring_fd() const;
  using Visit = std::function<void(std::span<const std::byte>)>;
  /// Calls `visit` for every record there is.
  void Drain(const Visit& visit);
  /// The next process whose record the ring had no room for; nothing if there is none.
  [[nodiscard]] std::optional<kepler_dropped> TakeDropped();

  /// Names of the programs that this kernel did not take.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  Programs() = default;
  Status LoadAll(const ProgramsOptions& options);
  Status AttachAll();
  Status OpenRing();
  Status ConnectCounters(const PerfCounters& counters);
  static int Hand(void* context, void* data, size_t size);

  Skeleton skeleton_;
  std::vector<std::string> left_out_;
  std::unique_ptr<ring_buffer, FreeBpf> ring_;
  std::vector<std::unique_ptr<bpf_link, FreeBpf>> links_;
  bpf_link* tasks_ = nullptr;
  bpf_link* executables_ = nullptr;
  bool reports_cgroups_ = false;
  const Visit* visit_ = nullptr;
};

}  // namespace kepler::activity::bpf
