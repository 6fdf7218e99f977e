#pragma once
// Cgroups, and the processes in them, as used in every sample. A table creates each object once and shares it, so equal
// pointers mean equal objects. A holder of a pointer needs no list of removed objects.
#include <memory>
#include <string>

#include "base/ids.h"
#include "cgroup/owner.h"
#include "os/procfs.h"

namespace kepler::cgroup {

/// A cgroup of a tree. A later cgroup with the same path is a different object.
struct Cgroup {
  Cgroup(std::string path_in_tree, Owner whose);
  std::string path;
  Owner owner;  // label values
};
using CgroupPtr = std::shared_ptr<const Cgroup>;

/// The cgroups of a process: all lines of /proc/PID/cgroup, and the owner that they name together. Processes in the
/// same cgroups share one object: compare pointers first.
struct Membership : std::enable_shared_from_this<Membership> {
  Membership() = default;
  Membership(os::CgroupLines all_lines, Owner whose);
  os::CgroupLines lines;
  Owner owner;  // as labels show it
};
using MembershipPtr = std::shared_ptr<const Membership>;

/// Kernel data about one process. Bytes are unchanged: comm and exe may contain any bytes.
struct ProcessInfo {
  ProcessKey key;
  std::string comm;
  std::string exe;  // "" if unreadable (kernel thread, no permission)
  bool kernel_thread = false;
  uint32_t uid = kUnknownUid;  // real user id in the user namespace of the agent
  MembershipPtr cgroup;        // never null; has no lines if unreadable
};

}  // namespace kepler::cgroup
