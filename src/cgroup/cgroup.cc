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

Cgroup::Cgroup(std::string path_in_tree, Owner whose)
    : path(std::move(path_in_tree)), owner(AsLabels(std::move(whose))) {}

Membership::Membership(os::CgroupLines all_lines, Owner whose)
    : lines(std::move(all_lines)), owner(AsLabels(std::move(whose))) {}

}  // namespace kepler::cgroup
