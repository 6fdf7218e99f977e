#pragma once
// Mounted file systems of one process: <procfs>/PID/mountinfo (proc(5)).
#include <string>
#include <string_view>
#include <vector>

namespace kepler::os {

struct Mount {
  std::string root;         // which directory of the file system is mounted
  std::string mount_point;  // as the process sees it
  std::string type;
  std::string source;
  std::string super_options;  // for a v1 cgroup hierarchy: its controllers
  bool operator==(const Mount&) const = default;
};

/// Octal escapes (\040) are undone. Lines that do not parse are left out.
[[nodiscard]] std::vector<Mount> ParseMountInfo(std::string_view text);

}  // namespace kepler::os
