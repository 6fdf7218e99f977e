#include "activity/bpf/facts.h"

#include <fmt/core.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/parse.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::activity::bpf {
namespace {

// PROC_PID_INIT_INO, include/linux/proc_ns.h: the same value on every machine since Linux 3.8.
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;

constexpr uint64_t Bit(int capability) { return uint64_t{1} << capability; }
#ifndef CAP_BPF
constexpr int CAP_PERFMON = 38;
constexpr int CAP_BPF = 39;
#endif

/// Up to Linux 5.10 the kernel charges maps to this limit, and only CAP_SYS_RESOURCE may raise the limit.
bool MapsFit() {
  constexpr rlim_t kEnough = rlim_t{16} << 20;
  utsname name = {};
  rlimit limit = {};
  int major = 0;
  int minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return true;
  if (std::pair(major, minor) >= std::pair(5, 11)) return true;
  return ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur >= kEnough;
}

}  // namespace

Result<uint64_t> ParseEffectiveCapabilities(std::string_view status) {
  const auto digits = os::ValueOf("CapEff:", status);
  if (const auto bits = digits ? ParseNumber<uint64_t>(*digits, 16) : std::nullopt) return *bits;
  return Fail(ErrorKind::kMalformed, "parse status: no CapEff");
}

bool ParseSeccompFilter(std::string_view status) { return os::ValueOf("Seccomp:", status) == "2"; }

std::string_view ParseLockdown(std::string_view text) {
  const auto open = text.find('[');
  const auto close = text.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

Facts ReadFacts(const std::string& procfs) {
  Facts facts;
  struct stat own = {};
  facts.first_pid_namespace = ::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == kFirstPidNamespace;
  if (const auto status = os::ReadWholeFile(procfs + "/self/status")) {
    const auto pids = os::ParseNsPids(*status);
    facts.procfs_has_our_pids = pids && pids->front() == ::getpid();
  }
  if (const auto status = os::ReadWholeFile("/proc/self/status")) {
    const uint64_t capabilities = ParseEffectiveCapabilities(*status).value_or(0);
    facts.seccomp = ParseSeccompFilter(*status);
    // includes CAP_BPF and CAP_PERFMON, as before Linux 5.8
    const bool admin = (capabilities & Bit(CAP_SYS_ADMIN)) != 0;
    facts.cap_bpf = admin || (capabilities & Bit(CAP_BPF)) != 0;
    facts.cap_perfmon = admin || (capabilities & Bit(CAP_PERFMON)) != 0;
  }
  facts.btf = ::access("/sys/kernel/btf/vmlinux", R_OK) == 0;
  facts.memlock = MapsFit();
  if (const auto lockdown = os::ReadWholeFile("/sys/kernel/security/lockdown"))
    facts.lockdown = ParseLockdown(*lockdown);
  return facts;
}

Status MayTry(const Facts& facts) {
  if (!facts.first_pid_namespace)
    return Fail(
        ErrorKind::kUnavailable,
        "this process is not in the host's pid namespace, so BPF shows only some tasks; run it in the host's pid "
        "namespace (hostPID, --pid=host)");
  if (!facts.procfs_has_our_pids)
    return Fail(ErrorKind::kUnavailable,
                "host.procfs is not the /proc of the host's pid namespace, so process ids of BPF do not match it");
  return {};
}

std::string Missing(const Facts& facts) {
  std::string missing;
  const auto add = [&](bool there, std::string_view what) {
    if (!there) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", what);
  };
  add(facts.btf, "BTF (/sys/kernel/btf/vmlinux: CONFIG_DEBUG_INFO_BTF)");
  add(facts.cap_bpf, "CAP_BPF");
  add(facts.cap_perfmon, "CAP_PERFMON");
  add(facts.memlock, "RLIMIT_MEMLOCK of 16 MiB");
  add(facts.lockdown != "confidentiality", "kernel lockdown below confidentiality");
  // Seccomp profiles of some runtimes require CAP_SYS_ADMIN even if everything else is available.
  add(!facts.seccomp || !missing.empty(), "a seccomp profile that allows bpf (a profile is active and may forbid it)");
  return missing;
}

}  // namespace kepler::activity::bpf
