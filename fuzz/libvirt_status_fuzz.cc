// What libvirt keeps of a domain, which a pod may have written itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "workload/hypervisor/libvirt_status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto domain = kepler::workload::hypervisor::ParseLibvirtStatus({reinterpret_cast<const char*>(data), size});
  if (!domain) return 0;
  if (domain->pid <= 0 || domain->name.empty() || domain->uuid.empty()) std::abort();
  const auto& [instance, flavor, project_id, project_name, user] = domain->metadata;
  const size_t texts = domain->name.size() + domain->uuid.size() + instance.size() + flavor.size() + project_id.size() +
                       project_name.size() + user.size();
  if (texts > size) std::abort();
  return 0;
}
