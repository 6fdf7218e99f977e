#pragma once
// What the kernel says about one process, as plain data. Bytes are as read: comm and exe may be any bytes.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"

namespace kepler::os {

/// One line of /proc/PID/cgroup: "4:cpu,cpuacct:/docker/ab…" or "0::/system.slice/x.service" (hierarchy 0: v2).
struct CgroupLine {
  int hierarchy = 0;
  std::string controllers;  // "" for v2, "name=systemd" for a named v1 hierarchy
  std::string path;         // as written, may start with "/.."
  uint64_t id = 0;          // kernfs id of the directory; 0: not known. Another one was made under the same path later
  bool operator==(const CgroupLine& other) const {
    return hierarchy == other.hierarchy && controllers == other.controllers && path == other.path;
  }
};

/// All lines of one /proc/PID/cgroup. Processes of one cgroup share one object: compare pointers first.
struct CgroupMembership {
  std::vector<CgroupLine> lines;
};

struct ProcessInfo {
  ProcessKey key;
  std::string comm;
  std::string exe;  // "" where it cannot be read (kernel thread, no permission)
  bool kernel_thread = false;
  std::shared_ptr<const CgroupMembership> cgroup;  // never null; no lines where it cannot be read
};

}  // namespace kepler::os
