#include "workload/hypervisor/evidence.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/parse.h"
#include "os/passwd.h"

namespace kepler::workload::hypervisor {
namespace {

struct Scope {
  std::string_view slice;
  std::string_view prefix;
  std::string_view suffix;
};

// Scopes that systemd-machined creates, by libvirt driver. Scopes of containers do not count: root of a container can
// run any program.
constexpr std::array kScopes = {
    Scope{"machine.slice", "machine-qemu\\x2d", ".scope"},
    Scope{"machine.slice", "machine-qemu-", ".scope"},
    Scope{"machine.slice", "machine-xen\\x2d", ".scope"},
    Scope{"machine.slice", "machine-ch\\x2d", ".scope"},
    Scope{"machine", "", ".libvirt-qemu"},
    Scope{"qemu.slice", "", ".scope"},
};

bool IsMachineScope(std::string_view path) {
  while (path.starts_with("/..")) path.remove_prefix(3);
  Splitter parts(path, '/');
  const auto top = parts.Next();
  const auto slice = parts.Next();
  const auto name = parts.Next();
  return top && top->empty() && name && std::ranges::any_of(kScopes, [&](const Scope& scope) {
           return *slice == scope.slice && name->starts_with(scope.prefix) && name->ends_with(scope.suffix);
         });
}

auto Rank(const Evidence& evidence) {
  const bool in_place = evidence.in_scope || (evidence.in_pod && evidence.holds_machine);
  return std::tuple(in_place, evidence.holds_machine, evidence.trusted_user);
}

}  // namespace

std::weak_ordering Evidence::operator<=>(const Evidence& other) const { return Rank(*this) <=> Rank(other); }

Evidence Evidence::operator|(const Evidence& other) const {
  return {.in_scope = in_scope || other.in_scope,
          .in_pod = in_pod || other.in_pod,
          .holds_machine = holds_machine || other.holds_machine,
          .trusted_user = trusted_user || other.trusted_user};
}

std::string_view ToString(const Evidence& evidence) {
  if (evidence.in_scope) return "scope";
  if (evidence.holds_machine) return evidence.in_pod ? "pod" : "kvm";
  return evidence.trusted_user ? "user" : "name";
}

bool IsInMachineScope(const os::CgroupLines& lines) {
  return std::ranges::any_of(lines, [](const os::CgroupLine& line) { return IsMachineScope(line.path); });
}

bool IsPodsContainer(const cgroup::Owner& owner) {
  return owner.container && !owner.pod_uid.empty() && cgroup::AuthorityOf(owner.container->id).empty() &&
         cgroup::AuthorityOf(owner.pod_uid).empty();
}

std::vector<uint32_t> HypervisorUsers(std::string_view passwd) {
  std::vector<uint32_t> uids;
  for (const os::PasswdUser& user : os::ParsePasswd(passwd))
    if (user.name == "libvirt-qemu" || user.name == "qemu") uids.push_back(user.uid);
  return uids;
}

}  // namespace kepler::workload::hypervisor
