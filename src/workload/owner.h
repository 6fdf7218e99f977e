#pragma once
// The owner of a process, as plain data.
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "cgroup/owner.h"

namespace kepler::workload {

/// Whether something of a process was not to be read in time: it is worth another try.
enum class Late : uint8_t {
  kNo,
  kPutOff,   // others of its unit, or of the look, took the time
  kTimedOut  // it keeps its reader waiting itself
};

/// Everything the labels need to know about a process, as read: not sanitised, each text at most 255 bytes.
struct ProcessOwner {
  cgroup::Owner cgroup;
  std::string container_name;  // HOSTNAME or CONTAINER_NAME of its environment, or from its command line; "" unknown
  std::optional<VmId> vm;
  std::string vm_name;
  VmOwner vm_owner;  // only where there is a vm
  Late late = Late::kNo;
};

}  // namespace kepler::workload
