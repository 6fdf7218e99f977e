#include "model_store/model_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/percent.h"
#include "base/text.h"
#include "model/choice.h"
#include "model/machine_json.h"

namespace kepler::model_store {
namespace {

constexpr std::string_view kPageCache = "bpf_page_cache_hit";

/// With the names of the model server, which rejects others in some versions.
std::string OldMachine(const model::MachineSpec& machine) {
  return fmt::format(R"({{"processor":{},"cores":{},"chips":{},"memory":{},"frequency":{}}})",
                     QuoteJson(machine.processor), machine.cores, machine.chips, machine.memory_gib,
                     machine.frequency_mhz);
}

std::string OldBody(const ModelQuery& query, const std::vector<std::string>& metrics, std::string_view source) {
  std::vector<std::string> quoted;
  for (const std::string& metric : metrics) quoted.push_back(QuoteJson(metric));
  return fmt::format(
      R"({{"metrics":[{}],"output_type":"AbsPower","source":"{}","node_type":-1,"weight":true,"trainer_name":"",)"
      R"("filter":"","machine_spec":{}}})",
      fmt::join(quoted, ","), source, OldMachine(query.machine));
}

bool IsOfBpf(const std::string& feature) { return feature.starts_with("bpf_"); }

}  // namespace

std::string BestQuery(const ModelQuery& query) {
  return fmt::format("machine={}&features={}", PercentEncode(model::WriteMachineJson(query.machine)),
                     fmt::join(query.features, ","));
}

std::vector<std::string> OldBodies(const ModelQuery& query) {
  std::vector<std::string> measured = query.features;
  std::erase(measured, kPageCache);
  std::vector<std::string> listed = measured;
  listed.emplace_back(kPageCache);
  std::vector<std::string> bodies{OldBody(query, listed, "rapl-sysfs")};
  if (!std::ranges::all_of(measured, IsOfBpf)) bodies.push_back(OldBody(query, measured, "rapl-sysfs"));
  bodies.push_back(OldBody(query, listed, "acpi"));
  return bodies;
}

Status CheckUsable(const std::shared_ptr<const model::KnownModel>& known, const ModelQuery& query) {
  const auto has = [&](std::string_view feature) {
    return model::IsAttribute(feature) || std::ranges::find(query.features, feature) != query.features.end();
  };
  const model::Situation here{.machine = query.machine, .has = has, .only_load = query.machine.is_guest};
  Status first;
  for (const model::ComponentModel& component : known->model.components) {
    const auto choice = model::ChooseModel({known}, component.component, here);
    if (choice) return {};
    if (first) first = std::unexpected(choice.error());
  }
  return first;
}

}  // namespace kepler::model_store
