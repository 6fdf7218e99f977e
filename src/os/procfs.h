#pragma once
// The files of one process under <procfs>, as plain structs. Parsers are pure; text is in the kernel's format.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::os {

/// One line of /proc/PID/cgroup: "4:cpu,cpuacct:/docker/ab…" or "0::/system.slice/x.service" (hierarchy 0: v2).
struct CgroupLine {
  int hierarchy = 0;
  std::string controllers;  // "" for v2, "name=systemd" for a named v1 hierarchy
  std::string path;         // unchanged; may start with "/.."
  // kernfs id of the directory; 0: unknown. A later directory with the same path has another id
  uint64_t id = 0;
  bool operator==(const CgroupLine& other) const {
    return hierarchy == other.hierarchy && controllers == other.controllers && path == other.path;
  }
};

using CgroupLines = std::vector<CgroupLine>;

/// PID/stat (proc(5)). Times are in clock ticks.
struct ProcessStat {
  int32_t pid = 0;
  std::string_view comm;  // without the parentheses, a view into the parsed text
  char state = '?';
  int32_t ppid = 0;
  uint32_t flags = 0;        // PF_*
  uint64_t utime_ticks = 0;  // all threads, including dead ones; excludes waited-for children
  uint64_t stime_ticks = 0;
  uint64_t start_ticks = 0;  // since boot

  [[nodiscard]] bool kernel_thread() const { return (flags & 0x00200000U) != 0; }  // PF_KTHREAD
  /// True for an exiting process: exe is unreadable, and v1 cgroup lines read "/" whatever the cgroup.
  [[nodiscard]] bool exiting() const {
    return (flags & 0x00000004U) != 0 || state == 'Z' || state == 'X';
  }  // PF_EXITING
};

[[nodiscard]] Result<ProcessStat> ParseProcessStat(std::string_view text);

/// Parses PID/cgroup. A " (deleted)" after a path is dropped. A line that does not parse makes the whole text
/// malformed.
[[nodiscard]] Result<CgroupLines> ParseCgroupLines(std::string_view text);

/// Returns the trimmed text behind `name` ("Uid:", "processes ") in the first line that begins with it; nothing if
/// there is no such line.
[[nodiscard]] std::optional<std::string_view> ValueOf(std::string_view name, std::string_view text);

/// Parses NSpid of PID/status: the pid in the namespace of this procfs is first, the pid in the process' own namespace
/// is last.
[[nodiscard]] Result<std::vector<int32_t>> ParseNsPids(std::string_view status);

/// Parses the real user id of PID/status. The owner of the directory /proc/PID may differ. The owner is root for a
/// process that may not be dumped, and the effective user for a setuid program.
[[nodiscard]] Result<uint32_t> ParseRealUid(std::string_view status);

/// Bytes of all IP packets, including headers, in a network namespace since its creation.
struct IpOctets {
  uint64_t received = 0;
  uint64_t sent = 0;
};

/// Parses InOctets and OutOctets of the IpExt lines in PID/net/netstat. The first IpExt line contains the field names,
/// the second the values. kMalformed if they are missing.
[[nodiscard]] Result<IpOctets> ParseIpOctets(std::string_view netstat);

/// Parses MemTotal of meminfo, in KiB.
[[nodiscard]] Result<uint64_t> ParseMemTotal(std::string_view meminfo);

/// Returns the target of PID/exe, or a path of PID/cgroup, without the " (deleted)" that the kernel appends after an
/// unlink.
[[nodiscard]] std::string_view StripDeleted(std::string_view path);

/// Returns true if `controllers` of a CgroupLine ("cpu,cpuacct") contains `name`.
[[nodiscard]] bool HasController(std::string_view controllers, std::string_view name);

struct Mount {
  std::string root;         // mounted directory of the file system
  std::string mount_point;  // path in the mount namespace of the process
  std::string type;
  std::string source;
  std::string super_options;  // for a v1 cgroup hierarchy: its controllers
  bool operator==(const Mount&) const = default;
};

/// Parses mountinfo and undoes octal escapes (\040). Lines that do not parse are left out.
[[nodiscard]] std::vector<Mount> ParseMountInfo(std::string_view text);

}  // namespace kepler::os
