// The file of a machine, or of the types of them: refused with a reason, or a machine that is the same once written and
// read again, and that one of the types is nearest to.
#include "fuzz.h"
#include "model/machine_json.h"

namespace model = kepler::model;

void Fuzz(std::string_view text) {
  const auto machine = model::ReadMachineJson(text);
  if (!machine && machine.error().message.empty()) std::abort();
  if (machine) {
    const auto again = model::ReadMachineJson(model::WriteMachineJson(*machine));
    if (!again || again->cores != machine->cores || model::Similarity(*machine, *machine) != 1) std::abort();
  }
  const auto types = model::ReadNodeTypesJson(text);
  if (!types && types.error().message.empty()) std::abort();
  if (!types || types->empty()) return;
  const auto found = model::FindNodeType(*types, types->back().machine);
  if (!found || found->type >= types->size() || found->similarity != 1) std::abort();
}
