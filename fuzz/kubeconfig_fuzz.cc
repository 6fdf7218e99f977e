// A kubeconfig: a cluster that can be reached, or an error that names the file. It names no file that is there.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "workload/kubernetes/access.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto access = kepler::workload::kubernetes::ParseKubeconfig(text, "/nowhere/config");
  if (access ? access->api.host.empty() || access->api.port == 0
             : !access.error().message.starts_with("/nowhere/config:"))
    std::abort();
  return 0;
}
