#pragma once
// Cgroups, and processes in them, as every sample names them. A table makes each once and shares it: within that table
// pointers are identities, and who holds one needs no list of what is gone.
#include <memory>
#include <string>

#include "base/ids.h"
#include "cgroup/owner.h"
#include "os/procfs.h"

namespace kepler::cgroup {

/// A cgroup of a tree. One that is made later under the same path is another.
struct Cgroup {
  Cgroup(std::string path_in_tree, Owner whose);
  std::string path;
  Owner owner;  // as labels show it
};
using CgroupPtr = std::shared_ptr<const Cgroup>;

/// Where processes are: all lines of their /proc/PID/cgroup, and whom they name together. Processes of the same cgroups
/// share one object: compare pointers first.
struct Membership : std::enable_shared_from_this<Membership> {
  Membership() = default;
  Membership(os::CgroupLines all_lines, Owner whose);
  os::CgroupLines lines;
  Owner owner;  // as labels show it
};
using MembershipPtr = std::shared_ptr<const Membership>;

/// What the kernel says about one process. Bytes are as read: comm and exe may be any bytes.
struct ProcessInfo {
  ProcessKey key;
  std::string comm;
  std::string exe;  // "" where it cannot be read (kernel thread, no permission)
  bool kernel_thread = false;
  MembershipPtr cgroup;  // never null; no lines where it cannot be read
};

}  // namespace kepler::cgroup
