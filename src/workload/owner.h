#pragma once
// The owner of a cgroup and of a process, as plain data.
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace kepler::workload {

/// Who owns a cgroup, read from its path alone.
struct CgroupOwner {
  std::optional<ContainerId> container;
  std::string pod_uid;   // "" outside Kubernetes; with dashes
  std::string_view qos;  // a literal: "guaranteed", "burstable", "besteffort", or ""
  bool operator==(const CgroupOwner&) const = default;
};

/// Everything the labels need to know about a process, as read: not sanitised, each text at most 255 bytes.
struct ProcessOwner {
  CgroupOwner cgroup;
  std::string container_name;  // HOSTNAME or CONTAINER_NAME of its environment, or from its command line; "" unknown
  std::optional<VmId> vm;
  std::string vm_name;
  VmOwner vm_owner;   // only where there is a vm
  bool late = false;  // something was not to be read in time: it is worth another try
};

}  // namespace kepler::workload
