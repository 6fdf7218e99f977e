#include "cgroup/cgroup.h"

#include <utility>

#include "base/text.h"

namespace kepler::cgroup {
namespace {

Owner AsLabels(Owner owner) {
  owner.pod_uid = LabelText(owner.pod_uid);
  if (owner.container) *owner.container = {LabelText(owner.container->runtime), LabelText(owner.container->id)};
  return owner;
}

}  // namespace

Cgroup::Cgroup(std::string path_in_tree) : path(std::move(path_in_tree)), owner(AsLabels(OwnerOfPath(path))) {}

Membership::Membership(os::CgroupLines all_lines) : lines(std::move(all_lines)), owner(AsLabels(OwnerOfLines(lines))) {}

}  // namespace kepler::cgroup
