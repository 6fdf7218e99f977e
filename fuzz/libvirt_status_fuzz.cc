// What libvirt keeps of a domain, which a pod may have written itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "workload/hypervisor/libvirt_status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto domain = kepler::workload::hypervisor::ParseLibvirtStatus({reinterpret_cast<const char*>(data), size});
  if (!domain) return 0;
  if (domain->pid <= 0 || domain->name.empty() || domain->uuid.empty()) std::abort();
  if (domain->name.size() + domain->uuid.size() > size) std::abort();
  return 0;
}
