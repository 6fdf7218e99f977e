#pragma once
// What this machine and this process bring for BPF: the reasons to give when it cannot be used. Whether it can is found
// out by trying; of the facts only the pid namespace decides anything.
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::activity::bpf {

struct Facts {
  /// In another one the iterator shows a part of the tasks, under ids that nobody there knows.
  bool first_pid_namespace = false;
  /// <procfs>/self is this process: host.procfs has the ids that the kernel side reports.
  bool procfs_has_our_pids = false;
  bool btf = false;  // /sys/kernel/btf/vmlinux can be read
  bool cap_bpf = false;
  bool cap_perfmon = false;
  bool memlock = true;   // maps fit into RLIMIT_MEMLOCK, or are not charged to it (Linux 5.11)
  bool seccomp = false;  // a filter is in force, which may refuse bpf() whatever the capabilities
  std::string lockdown;  // "none", "integrity", "confidentiality"; "" where the kernel has no such thing
};

[[nodiscard]] Facts ReadFacts(const std::string& procfs);

/// Why it is not worth a try; kUnavailable.
[[nodiscard]] Status MayTry(const Facts& facts);
/// What of the facts would explain that the load failed, as a list for people: "CAP_BPF, CAP_PERFMON"; "" if nothing.
[[nodiscard]] std::string Missing(const Facts& facts);

/// Seccomp of /proc/PID/status: whether it is 2, a filter (proc(5)).
[[nodiscard]] bool ParseSeccompFilter(std::string_view status);
/// CapEff of /proc/PID/status as bits; kMalformed without it.
[[nodiscard]] Result<uint64_t> ParseEffectiveCapabilities(std::string_view status);
/// The word in brackets: "none [integrity] confidentiality"; "" if there is none.
[[nodiscard]] std::string_view ParseLockdown(std::string_view text);

}  // namespace kepler::activity::bpf
