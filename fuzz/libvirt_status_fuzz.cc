// What libvirt keeps of a domain, which a pod may have written itself.
#include "fuzz.h"
#include "workload/hypervisor/libvirt_status.h"

void Fuzz(std::string_view text) {
  const auto domain = kepler::workload::hypervisor::ParseLibvirtStatus(text);
  if (!domain) return;
  if (domain->pid <= 0 || domain->name.empty() || domain->uuid.empty()) std::abort();
  const auto& [instance, flavor, project_id, project_name, user] = domain->metadata;
  const size_t texts = domain->name.size() + domain->uuid.size() + instance.size() + flavor.size() + project_id.size() +
                       project_name.size() + user.size();
  if (texts > text.size()) std::abort();
}
