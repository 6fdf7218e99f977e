// Cgroup paths of any process on the node, any length.
#include <optional>
#include <string>

#include "cgroup/owner.h"
#include "fuzz.h"

void Fuzz(std::string_view path) {
  const auto owner = kepler::cgroup::OwnerOfPath(path);
  const auto& container = owner.container;
  if (container && (container->runtime.empty() || container->id.empty() || container->id.size() > 255)) std::abort();
  if (owner.pod_uid.size() > 255 || (owner.pod_uid.empty() && !owner.qos.empty())) std::abort();

  // Below a directory of a user nothing is claimed in the machine's name.
  const std::string given = "/given/" + std::string(path);
  const auto claimed = kepler::cgroup::OwnerOfPath(
      given, {.own_path = "/", .look_at = [](std::string_view directory) -> std::optional<kepler::cgroup::Directory> {
                return kepler::cgroup::Directory{.uid = directory == "/given" ? 1000U : 0U};
              }});
  if (claimed.container && !claimed.container->id.starts_with("uid1000/")) std::abort();
  if (!claimed.pod_uid.empty() && !claimed.pod_uid.starts_with("uid1000/")) std::abort();

  const kepler::os::CgroupLines lines = {{4, "cpu,cpuacct", std::string(path.substr(0, path.size() / 2))},
                                         {0, "", std::string(path)}};
  if (kepler::cgroup::AccountingLine(lines) > lines.size()) std::abort();
  if (kepler::cgroup::NamingLine(lines) > lines.size()) std::abort();
}
