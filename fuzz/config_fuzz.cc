// YAML text to a configuration and back: whatever is accepted reads back from its own print as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/draft.h"
#include "config/load_yaml.h"
#include "config/print.h"
#include "config/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kepler::config;
  Draft draft("k.yaml");
  LoadYaml(draft, std::string(data, data + size));
  TrimTexts(draft);
  for (const std::string& address : draft.config.web.listen_addresses) (void)CheckListenAddress(address);
  (void)CheckEndpoint(draft.config.experimental.gpu.dcgm_endpoint);
  if (!draft.errors().empty()) return 0;

  Draft again("k.yaml");
  LoadYaml(again, PrintConfig(draft.config, false));
  if (!again.errors().empty() || !again.unknown().empty() || !(again.config == draft.config)) std::abort();
  return 0;
}
