#pragma once
// Facts about this machine and this process that explain why BPF is unavailable. Only the pid namespace prevents an
// attempt. All other facts only explain a failed attempt.
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::activity::bpf {

struct Facts {
  /// In another pid namespace the iterator shows only some tasks, under ids that the namespace does not use.
  bool first_pid_namespace = false;
  /// <procfs>/self is this process: host.procfs uses the pids that the kernel side reports.
  bool procfs_has_our_pids = false;
  bool btf = false;  // /sys/kernel/btf/vmlinux is readable
  bool cap_bpf = false;
  bool cap_perfmon = false;
  bool memlock = true;   // maps fit into RLIMIT_MEMLOCK, or the kernel does not charge them (Linux 5.11)
  bool seccomp = false;  // a seccomp filter is active; it may refuse bpf() regardless of capabilities
  std::string lockdown;  // "none", "integrity", "confidentiality"; "" if the kernel has no lockdown
};

[[nodiscard]] Facts ReadFacts(const std::string& procfs);

/// Returns kUnavailable with the reason if BPF cannot work here.
[[nodiscard]] Status MayTry(const Facts& facts);
/// Returns the facts that explain a load failure, as a list to print: "CAP_BPF, CAP_PERFMON"; "" without any.
[[nodiscard]] std::string Missing(const Facts& facts);

/// Returns true if Seccomp of /proc/PID/status is 2, a filter (proc(5)).
[[nodiscard]] bool ParseSeccompFilter(std::string_view status);
/// Returns CapEff of /proc/PID/status as bits; kMalformed if the field is missing.
[[nodiscard]] Result<uint64_t> ParseEffectiveCapabilities(std::string_view status);
/// Returns the word in brackets: "none [integrity] confidentiality"; "" without brackets.
[[nodiscard]] std::string_view ParseLockdown(std::string_view text);

}  // namespace kepler::activity::bpf
