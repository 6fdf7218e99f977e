// YAML text to a configuration and back: whatever is accepted reads back from its own print as the same.
#include <string>

#include "apps/kepler/config.h"
#include "fuzz.h"
#include "settings/addresses.h"
#include "settings/draft.h"
#include "settings/print.h"

void Fuzz(std::string_view text) {
  using namespace kepler;
  agent::Config config;
  settings::Draft draft(agent::kTable.Of(config), "k.yaml");
  draft.LoadYaml(std::string(text));
  for (const std::string& address : config.listen_addresses) (void)settings::CheckListenAddress(address);
  (void)settings::CheckEndpoint(config.gpu_dcgm_endpoint);
  if (!draft.errors().empty()) return;

  agent::Config copy;
  settings::Draft again(agent::kTable.Of(copy), "k.yaml");
  again.LoadYaml(settings::Print(agent::kTable.Of(config), false));
  if (!again.errors().empty() || !again.unknown().empty()) std::abort();
  if (!settings::ChangedKeys(agent::kTable.Of(config), agent::kTable.Of(copy)).empty()) std::abort();
}
