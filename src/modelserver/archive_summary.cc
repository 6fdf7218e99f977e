#include "modelserver/archive_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/parse.h"
#include "json/document.h"
#include "lab/files/archive.h"
#include "lab/files/model_archive.h"
#include "model/features.h"
#include "model/machine_json.h"

namespace kepler::modelserver {
namespace {

using json::Cursor;
using lab::files::Member;

/// A published archive has at most a dozen files, of at most some megabytes.
constexpr lab::files::Limits kLimits = {
    .members = 100, .member_bytes = size_t{32} << 20, .total_bytes = size_t{64} << 20};
constexpr size_t kMaxListValues = 100'000;

Result<model::OutputType> ReadOutput(const Cursor& metadata) {
  KEPLER_TRY(const Cursor at, metadata.Member("output_type"));
  KEPLER_TRY(const std::string_view text, at.Text());
  const auto output = model::OutputTypeOf(text);
  if (!output) return at.Refuse("it is neither AbsPower nor DynPower");
  return *output;
}

/// The model server writes -1 for an error that it does not know.
Result<Stated> ReadStated(const Cursor& metadata) {
  KEPLER_TRY(const auto* const members, metadata.Members());
  Stated stated;
  for (const auto& [key, value] : *members) {
    const double* const number = std::get_if<double>(&value.value);
    const bool is_unknown = number != nullptr && *number < 0 && (key.ends_with("mae") || key.ends_with("mape"));
    if (number != nullptr && !is_unknown) stated.emplace(key, *number);
  }
  return stated;
}

std::optional<model::Accuracy> ErrorOf(const Stated& stated, model::Component component) {
  const auto number = [&](std::string_view suffix) {
    const auto found = stated.find(fmt::format("{}_{}", model::Name(component), suffix));
    return found == stated.end() ? -1 : found->second;
  };
  if (number("mae") < 0) return std::nullopt;
  return model::Accuracy{.rows = 0, .mae_watts = number("mae"), .mape = std::max(number("mape"), 0.0), .r2 = 0};
}

/// Checks that the archive has every file that predicts a component.
Result<std::vector<model::Component>> ReadComponents(std::span<const Member> members, std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text, kMaxListValues));
  const Cursor root(document);
  KEPLER_TRY(const auto* const entries, root.Members());
  std::vector<model::Component> components;
  for (const auto& [key, value] : *entries) {
    const Cursor at = root.At(value);
    const auto component = model::ComponentOf(key);
    if (!component) return at.Refuse("not a component of a node");
    KEPLER_TRY(const std::string_view file, at.Text("model_file"));
    KEPLER_CHECK_OK(lab::files::NeededMember(members, file));
    components.push_back(*component);
  }
  if (components.empty()) return root.Refuse("it has no component");
  return components;
}

/// A predictor that uses every feature, in place of the one in the archive.
model::ComponentModel Outline(const ArchiveSummary& summary, model::Component component) {
  model::ComponentModel outline;
  outline.component = component;
  outline.trainer = summary.name.substr(0, summary.name.rfind('_'));
  outline.predictor.formula = model::Linear{.bias = 0, .weights = std::vector<double>(summary.features.size(), 1)};
  outline.accuracy = ErrorOf(summary.stated, component);
  return outline;
}

Result<ArchiveSummary> ReadMetadata(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text, kMaxListValues));
  const Cursor root(document);
  ArchiveSummary summary;
  KEPLER_TRY(summary.name, root.Text("model_name"));
  KEPLER_CHECK_OK(model::CheckName(summary.name));
  KEPLER_TRY(const auto model_class, root.Find("model_class"));
  if (model_class) {
    KEPLER_TRY(summary.model_class, model_class->Text());
  }
  KEPLER_TRY(summary.features, root.Texts("features"));
  if (summary.features.empty() || summary.features.size() > model::kMaxFeatures)
    return root.Refuse(
        fmt::format("features: {} names; between 1 and {} are possible", summary.features.size(), model::kMaxFeatures));
  KEPLER_TRY(summary.stated, ReadStated(root));
  KEPLER_TRY(summary.outline.output, ReadOutput(root));
  KEPLER_TRY(summary.outline.machine, model::ReadMachineSpec(root));
  summary.outline.name = summary.name;
  for (const std::string& feature : summary.features)
    summary.outline.features.emplace_back(model::CanonicalFeature(feature));
  return summary;
}

std::string MachineText(const model::MachineSpec& machine) {
  return fmt::format(R"({{"processor":{},"cores":{},"chips":{},"memory":{},"frequency":{}}})",
                     json::Quote(machine.processor), machine.cores, machine.chips, machine.memory_gib,
                     machine.frequency_mhz);
}

}  // namespace

Result<ArchiveSummary> ReadArchiveSummary(std::string_view zip) {
  KEPLER_TRY(const auto members, lab::files::ReadArchive(zip, kLimits));
  KEPLER_TRY(const Member* const metadata, lab::files::NeededMember(members, lab::files::kMetadataMember));
  KEPLER_TRY(ArchiveSummary summary, lab::files::InMember(metadata->name, ReadMetadata(metadata->bytes)));
  KEPLER_TRY(const Member* const list, lab::files::NeededMember(members, summary.name + ".json"));
  KEPLER_TRY(const auto components, lab::files::InMember(list->name, ReadComponents(members, list->bytes)));
  for (const model::Component component : components) summary.outline.components.push_back(Outline(summary, component));
  KEPLER_CHECK_OK(lab::files::InMember(list->name, model::Check(summary.outline)));
  return summary;
}

Result<std::string> CompleteWeights(std::string_view weights, std::string_view model_name,
                                    const std::optional<model::MachineSpec>& machine, std::optional<double> mae) {
  KEPLER_TRY(const json::Value document, json::Parse(weights));
  const Cursor root(document);
  KEPLER_TRY(const auto* const members, root.Members());
  const auto lacks = [&](std::string_view key) {
    return std::ranges::find(*members, key, &json::Member::key) == members->end();
  };
  std::string added;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (lacks(key)) added += fmt::format("{}\"{}\":{}", added.empty() ? "" : ",", key, value);
  };
  add("model_name", json::Quote(model_name));
  if (machine) add("machine_spec", MachineText(*machine));
  if (mae) add("mae", fmt::format("{}", *mae));
  const size_t begin = weights.find('{') + 1;
  return fmt::format("{}{}{}{}", weights.substr(0, begin), added, added.empty() || members->empty() ? "" : ",",
                     weights.substr(begin));
}

std::optional<uint32_t> TypeOfName(std::string_view name) {
  const size_t at = name.rfind('_');
  if (at == std::string_view::npos) return std::nullopt;
  return ParseNumber<uint32_t>(name.substr(at + 1));
}

Stated StatedErrors(const model::PowerModel& model) {
  Stated stated;
  const auto raise = [&](std::string_view key, double value) {
    const auto [at, is_new] = stated.emplace(key, value);
    if (!is_new) at->second = std::max(at->second, value);
  };
  for (const model::ComponentModel& component : model.components) {
    if (!component.accuracy) continue;
    raise("mae", component.accuracy->mae_watts);
    raise(fmt::format("{}_mae", model::Name(component.component)), component.accuracy->mae_watts);
    if (component.accuracy->mape == 0) continue;  // unknown
    raise("mape", component.accuracy->mape);
    raise(fmt::format("{}_mape", model::Name(component.component)), component.accuracy->mape);
  }
  return stated;
}

}  // namespace kepler::modelserver
