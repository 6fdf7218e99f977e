// The BMC file: any bytes give an entry that can be used, or an error that names the file.
#include "energy/platform/redfish/bmc_file.h"
#include "fuzz.h"

void Fuzz(std::string_view text) {
  const auto found = kepler::energy::platform::redfish::ParseBmcFile(text, "bmc.yaml", "worker-1");
  if (!found && !found.error().message.starts_with("bmc.yaml")) std::abort();
  if (!found) return;
  if (found->peer.host.empty() || found->peer.port == 0) std::abort();
  const auto& bmc = found->bmc;
  if (bmc.username.empty() && !(bmc.password.empty() && bmc.password_file.empty())) std::abort();
  for (const auto& id : found->chassis)
    if (id.empty()) std::abort();
}
