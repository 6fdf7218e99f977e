#pragma once
// The owner of a process, as plain data.
#include <optional>
#include <string>

#include "base/ids.h"
#include "cgroup/owner.h"

namespace kepler::workload {

/// Everything the labels need to know about a process, as read: not sanitised, each text at most 255 bytes.
struct ProcessOwner {
  cgroup::Owner cgroup;
  std::string container_name;  // HOSTNAME or CONTAINER_NAME of its environment, or from its command line; "" unknown
  std::optional<VmId> vm;
  std::string vm_name;
  VmOwner vm_owner;   // only where there is a vm
  bool late = false;  // something was not to be read in time: it is worth another try
};

}  // namespace kepler::workload
