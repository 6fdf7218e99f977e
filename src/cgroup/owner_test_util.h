#pragma once
// For tests: owners, cgroups and memberships by their paths alone, as if no tree were visible.
#include <memory>
#include <string>
#include <utility>

#include "cgroup/cgroup.h"
#include "cgroup/owner.h"
#include "os/procfs.h"

namespace kepler::cgroup {

[[nodiscard]] inline Owner OwnerOfLines(const os::CgroupLines& lines) {
  const size_t line = NamingLine(lines);
  return line == lines.size() ? Owner() : OwnerOfPath(lines[line].path);
}

[[nodiscard]] inline CgroupPtr CgroupAt(std::string path) {
  Owner owner = OwnerOfPath(path);
  return std::make_shared<const Cgroup>(std::move(path), std::move(owner));
}

[[nodiscard]] inline MembershipPtr MembershipOf(os::CgroupLines lines) {
  Owner owner = OwnerOfLines(lines);
  return std::make_shared<const Membership>(std::move(lines), std::move(owner));
}

}  // namespace kepler::cgroup
