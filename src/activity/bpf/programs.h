#pragma once
// Programs: the kernel side (bpf/activity.bpf.c), loaded and attached. Optional programs that fail to load are left
// out: an older kernel then costs a label, not the whole source. Collection thread only.
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
  bool with_cpuacct = false;         // a v1 hierarchy accounts CPU time
  bool with_uids = false;            // read users of processes; costs about 5 % of a pass
  PerfCounters* counters = nullptr;  // null: no program on the context-switch path; must outlive the programs
  std::string btf_path = {};         // BTF file for a kernel without its own type information; "": the running kernel's
  std::vector<std::string> leave_out = {};  // programs to treat as refused by the kernel
};

/// Run time of the programs if kernel.bpf_stats_enabled is 1; otherwise 0.
struct RunStats {
  Nanoseconds time{0};
  uint64_t runs = 0;
  uint64_t missed = 0;  // runs that the kernel skipped, to prevent recursion of a program (Linux 5.12)
};

class Programs {
 public:
  Programs(Programs&&) = delete;  // the ring's callback points to this object
  /// Errors contain the kernel's message; kPermission if a permission is missing.
  static Result<std::unique_ptr<Programs>> Load(const ProgramsOptions& options);

  /// Starts a pass over all threads. The descriptor returns rows of kepler_task until the end of the file.
  [[nodiscard]] Result<UniqueFd> OpenTasks();
  /// Lists executables of processes that started at `since` (ns since boot) or later, as rows of kepler_executable.
  [[nodiscard]] Result<UniqueFd> OpenExecutables(uint64_t since);
  [[nodiscard]] bool reports_executables() const { return executables_ != nullptr; }
  [[nodiscard]] bool reports_cgroups() const { return reports_cgroups_; }
  [[nodiscard]] bool counts_events() const;

  /// Makes the event counts of running tasks visible to the next pass. Call only if counts_events(). Interrupts every
  /// CPU twice (BPF_F_TEST_RUN_ON_CPU, Linux 5.10): counters of a CPU that was offline are opened again.
  Status SplitSlices();

  /// Sets the start of the latest pass, in ns since boot. If a record is dropped, a process that started later is
  /// unknown.
  void SetLastScan(uint64_t since_boot);
  [[nodiscard]] kepler_totals Totals() const;
  [[nodiscard]] RunStats ReadRunStats() const;

  /// A descriptor that becomes readable when the ring is half full, and stays readable until the ring is empty.
  [[nodiscard]] int ring_fd() const;
  using Visit = std::function<void(std::span<const std::byte>)>;
  /// Calls `visit` for every pending record.
  void Drain(const Visit& visit);
  /// Returns the next process whose record was dropped because the ring was full; empty without one.
  [[nodiscard]] std::optional<kepler_dropped> TakeDropped();

  /// Names of the programs that this kernel refused.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  Programs() = default;
  Status LoadAll(const ProgramsOptions& options);
  Status AttachAll();
  Status OpenRing();
  Status ConnectCounters(size_t cpu);
  static int Hand(void* context, void* data, size_t size);

  Skeleton skeleton_;
  std::vector<std::string> left_out_;
  std::unique_ptr<ring_buffer, FreeBpf> ring_;
  std::vector<std::unique_ptr<bpf_link, FreeBpf>> links_;
  bpf_link* tasks_ = nullptr;
  bpf_link* executables_ = nullptr;
  bool reports_cgroups_ = false;
  const Visit* visit_ = nullptr;
  PerfCounters* counters_ = nullptr;
};

}  // namespace kepler::activity::bpf
