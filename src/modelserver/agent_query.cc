#include "modelserver/agent_query.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "http/server/request.h"
#include "model/choice.h"
#include "model/features.h"
#include "model/machine_json.h"
#include "model/machine_pairs.h"

namespace kepler::modelserver {
namespace {

constexpr std::string_view kNames[] = {"machine", "features", "output"};
constexpr size_t kMaxAgentFeatures = 256;

template <class T>
Result<T> InParameter(std::string_view name, Result<T> result) {
  if (result) return result;
  return Fail(ErrorKind::kMalformed, fmt::format("{}: {}", name, result.error().message));
}

Result<model::MachineSpec> ReadMachineText(std::string_view text) {
  return Trim(text).starts_with('{') ? model::ReadMachineJson(text) : model::ReadMachinePairs(text);
}

size_t CountUnknownNames(std::string_view query) {
  size_t unknown = 0;
  Splitter parts(query, '&');
  while (const auto part = parts.Next()) {
    const std::string_view name = part->substr(0, part->find('='));
    if (!part->empty() && std::ranges::find(kNames, name) == std::end(kNames)) ++unknown;
  }
  return unknown;
}

}  // namespace

Result<AgentQuery> ReadAgentQuery(std::string_view query) {
  AgentQuery read;
  read.unknown_fields = CountUnknownNames(query);
  KEPLER_TRY(const auto machine, http::server::FindParameter(query, "machine"));
  if (!machine) return Fail(ErrorKind::kMalformed, "machine: it is missing; send machine=processor=NAME,cores=N");
  KEPLER_TRY(read.machine, InParameter("machine", ReadMachineText(*machine)));
  KEPLER_TRY(const auto features, http::server::FindParameter(query, "features"));
  Splitter names(features ? std::string_view(*features) : std::string_view(), ',');
  while (const auto name = names.Next()) {
    if (!Trim(*name).empty()) read.features.emplace_back(model::CanonicalFeature(Trim(*name)));
    if (read.features.size() > kMaxAgentFeatures)
      return Fail(ErrorKind::kMalformed, fmt::format("features: more than {} names", kMaxAgentFeatures));
  }
  KEPLER_TRY(const auto output, http::server::FindParameter(query, "output"));
  if (output && !output->empty()) {
    read.output = model::OutputTypeOf(*output);
    if (!read.output) return Fail(ErrorKind::kMalformed, "output: it must be AbsPower or DynPower");
  }
  return read;
}

Result<Selected> SelectForAgent(const ModelIndex& index, const AgentQuery& query, std::span<const Bound> limits) {
  std::vector<const StoredModel*> models;
  size_t above = 0;
  model::ModelSet set;
  for (const StoredModel& model : index.models) {
    if (!model.own || model.output != query.output.value_or(model.output)) continue;
    if (!IsWithin(limits, model)) {
      ++above;
      continue;
    }
    models.push_back(&model);
    set.push_back(model.judged_archive);
  }
  const auto has = [&](std::string_view feature) {
    return query.features.empty() || model::IsAttribute(feature) ||
           std::ranges::find(query.features, feature) != query.features.end();
  };
  model::Situation here{.machine = query.machine, .has = has};
  here.only_load = query.machine.is_guest;
  auto choice = model::ChooseModel(set, model::Component::kPackage, here);
  if (!choice && choice.error().kind == ErrorKind::kNotFound)
    choice = model::ChooseModel(set, model::Component::kPlatform, here);
  if (!choice && above == 0) return Fail(ErrorKind::kNotFound, choice.error().message);
  if (!choice)
    return Fail(ErrorKind::kNotFound,
                fmt::format("{}; models whose stated errors are above the limits of this server (--max-error), or "
                            "missing: {}",
                            choice.error().message, above));
  return Selected{.model = models[choice->model], .reason = std::string(model::Name(choice->match))};
}

}  // namespace kepler::modelserver
