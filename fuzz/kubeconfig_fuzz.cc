// A kubeconfig: a cluster that can be reached, or an error that names the file. It names no file that is there.
#include <string>

#include "fuzz.h"
#include "workload/kubernetes/access.h"

void Fuzz(std::string_view input) {
  const std::string text(input);
  const auto access = kepler::workload::kubernetes::ParseKubeconfig(text, "/nowhere/config");
  if (access ? access->api.host.empty() || access->api.port == 0
             : !access.error().message.starts_with("/nowhere/config:"))
    std::abort();
}
