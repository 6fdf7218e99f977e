#include "modelserver/model_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/parse.h"
#include "base/text.h"
#include "http/server/request.h"
#include "json/document.h"
#include "model/features.h"
#include "model/machine_json.h"
#include "modelserver/model_index.h"

namespace kepler::modelserver {
namespace {

using json::Cursor;

constexpr size_t kMaxValues = 4096;
constexpr size_t kMaxMetrics = 256;
constexpr std::string_view kFields[] = {"metrics",      "output_type",    "source", "node_type",
                                        "weight",       "trainer_name",   "filter", "pipeline_name",
                                        "machine_spec", "loose_node_type"};
constexpr std::string_view kParameters[] = {"energy-source", "output-type", "feature-group", "node-type", "filter"};
/// Energy sources of Kepler 0.7, after NormalSource().
constexpr std::string_view kSources[] = {"rapl-sysfs", "trained_power_model", "acpi", "hmc", "redfish"};

std::unexpected<Error> Wrong(std::string_view field, std::string_view reason) {
  return Fail(ErrorKind::kMalformed, fmt::format("{}: {}", field, reason));
}

template <class Names>
bool IsOneOf(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

Result<std::string> ReadSource(std::string_view field, std::string_view text) {
  std::string source = NormalSource(text);
  if (!IsOneOf(kSources, source))
    return Wrong(field, fmt::format("unknown energy source; use one of {}", fmt::join(kSources, ", ")));
  return source;
}

Result<model::OutputType> ReadOutput(std::string_view field, std::string_view text) {
  const auto output = model::OutputTypeOf(text);
  if (!output) return Wrong(field, "it must be AbsPower or DynPower");
  return *output;
}

/// An optional text; null counts as missing.
Result<std::optional<std::string_view>> FindText(const Cursor& root, std::string_view key) {
  KEPLER_TRY(const auto at, root.Find(key));
  if (!at || at->IsNull()) return std::nullopt;
  return at->Text();
}

/// As Python counts a value: false, null, 0, "" and empty containers are false.
bool IsTruthy(const json::Value& value) {
  if (const bool* const flag = std::get_if<bool>(&value.value)) return *flag;
  if (const double* const number = std::get_if<double>(&value.value)) return *number != 0;
  if (const auto* const text = std::get_if<std::string>(&value.value)) return !text->empty();
  if (const auto* const numbers = std::get_if<json::Value::Numbers>(&value.value)) return !numbers->empty();
  if (const auto* const list = std::get_if<json::Value::List>(&value.value)) return !list->empty();
  if (const auto* const object = std::get_if<json::Value::Object>(&value.value)) return !object->empty();
  return false;
}

bool ReadTruth(const json::Value::Object& fields, std::string_view key, bool otherwise) {
  const auto found = std::ranges::find(fields, key, &json::Member::key);
  return found == fields.end() ? otherwise : IsTruthy(found->value);
}

Result<std::vector<std::string>> ReadMetrics(const Cursor& root) {
  KEPLER_TRY(std::vector<std::string> metrics, root.Texts("metrics"));
  if (metrics.empty()) return Wrong("metrics", "the list is empty; name the features that the client has");
  if (metrics.size() > kMaxMetrics)
    return Wrong("metrics", fmt::format("{} names; the maximum is {}", metrics.size(), kMaxMetrics));
  return metrics;
}

/// -1 is "not stated".
Result<std::optional<uint32_t>> ReadNodeType(std::string_view field, double number) {
  if (number == -1) return std::nullopt;
  if (!(number >= 0 && number <= UINT32_MAX) || number != std::floor(number))
    return Wrong(field, "it must be a whole number from 0, or -1 if the type is unknown");
  return static_cast<uint32_t>(number);
}

/// Checks what upstream's clients send for a machine that they do not know: null, or an object without a value.
bool IsKnown(const model::MachineSpec& machine) {
  return !machine.processor.empty() || std::ranges::any_of(model::kNumberAttributes, [&](const auto& attribute) {
    return machine.*attribute.value > 0;
  });
}

Status ReadMachine(const Cursor& root, ModelRequest& request) {
  KEPLER_TRY(request.machine, model::ReadMachineSpec(root));
  if (!request.machine) return {};
  KEPLER_TRY(const Cursor at, root.Member("machine_spec"));
  KEPLER_CHECK_OK(model::ReadIdentity(at, *request.machine));
  if (request.machine->processor.size() > kMaxLabelBytes) return Wrong("machine_spec.processor", "it is too long");
  request.machine->processor = model::NormalProcessorName(request.machine->processor);
  if (request.node_type == 0U) request.node_type.reset();
  if (!IsKnown(*request.machine)) request.machine.reset();
  return {};
}

Result<std::optional<std::string>> FindParameter(std::string_view query, std::string_view name) {
  KEPLER_TRY(auto value, http::server::FindParameter(query, name));
  if (value && value->empty()) value.reset();
  return value;
}

size_t CountUnknownParameters(std::string_view query) {
  size_t unknown = 0;
  Splitter parts(query, '&');
  while (const auto part = parts.Next())
    if (!part->empty() && !IsOneOf(kParameters, part->substr(0, part->find('=')))) ++unknown;
  return unknown;
}

}  // namespace

Result<ModelRequest> ReadModelRequest(std::string_view body) {
  KEPLER_TRY(const json::Value document, json::Parse(body, kMaxValues));
  const Cursor root(document);
  KEPLER_TRY(const auto* const fields, root.Members());
  ModelRequest request;
  for (const auto& [key, value] : *fields)
    if (!IsOneOf(kFields, key)) ++request.unknown_fields;
  KEPLER_TRY(request.metrics, ReadMetrics(root));
  KEPLER_TRY(const std::string_view output, root.Text("output_type"));
  KEPLER_TRY(request.output, ReadOutput("output_type", output));
  KEPLER_TRY(const auto source, FindText(root, "source"));
  KEPLER_TRY(request.source, ReadSource("source", source.value_or(request.source)));
  KEPLER_TRY(const auto type, root.Find("node_type"));
  if (type && !type->IsNull()) {
    KEPLER_TRY(const double number, type->Number());
    KEPLER_TRY(request.node_type, ReadNodeType("node_type", number));
  }
  KEPLER_TRY(const auto trainer, FindText(root, "trainer_name"));
  KEPLER_TRY(const auto pipeline, FindText(root, "pipeline_name"));
  KEPLER_TRY(const auto filter, FindText(root, "filter"));
  request.trainer_name = trainer.value_or("");
  request.pipeline_name = pipeline.value_or("");
  KEPLER_TRY(request.filter, ReadFilter(filter.value_or("")));
  request.weight = ReadTruth(*fields, "weight", false);
  request.loose_node_type = ReadTruth(*fields, "loose_node_type", true);
  KEPLER_CHECK_OK(ReadMachine(root, request));
  return request;
}

Result<BestModelsRequest> ReadBestModelsRequest(std::string_view query) {
  BestModelsRequest request;
  request.unknown_fields = CountUnknownParameters(query);
  KEPLER_TRY(const auto source, FindParameter(query, "energy-source"));
  KEPLER_TRY(request.source, ReadSource("energy-source", source.value_or(request.source)));
  KEPLER_TRY(const auto output, FindParameter(query, "output-type"));
  if (output) {
    KEPLER_TRY(request.output, ReadOutput("output-type", *output));
  }
  KEPLER_TRY(const auto group, FindParameter(query, "feature-group"));
  if (group && model::FindFeatureGroup(*group) == nullptr) return Wrong("feature-group", "no such group of features");
  request.feature_group = group.value_or("");
  KEPLER_TRY(const auto type, FindParameter(query, "node-type"));
  if (type) {
    const auto number = ParseNumber<double>(*type);
    if (!number) return Wrong("node-type", "it is not a number");
    KEPLER_TRY(request.node_type, ReadNodeType("node-type", *number));
  }
  KEPLER_TRY(const auto filter, FindParameter(query, "filter"));
  KEPLER_TRY(request.filter, ReadFilter(filter.value_or("")));
  return request;
}

Result<std::vector<Bound>> ReadFilter(std::string_view text) {
  constexpr size_t kMaxBounds = 32;
  std::vector<Bound> filter;
  Splitter parts(text, ';');
  while (const auto part = parts.Next()) {
    const std::string_view bound = Trim(*part);
    if (bound.empty()) continue;
    const size_t colon = bound.find(':');
    const auto limit = ParseNumber<double>(Trim(colon < bound.size() ? bound.substr(colon + 1) : ""));
    if (colon == std::string_view::npos || colon == 0 || !limit || !std::isfinite(*limit))
      return Wrong("filter", "each part must be ATTRIBUTE:NUMBER, with ';' between two parts");
    filter.push_back({std::string(Trim(bound.substr(0, colon))), *limit});
    if (filter.size() > kMaxBounds) return Wrong("filter", fmt::format("more than {} parts", kMaxBounds));
  }
  return filter;
}

bool Passes(std::span<const Bound> filter, const Stated& stated) {
  return std::ranges::all_of(filter, [&](const Bound& bound) {
    const auto found = stated.find(bound.key);
    if (found == stated.end()) return false;
    return bound.key == "abs_max_corr" ? found->second >= bound.limit : found->second <= bound.limit;
  });
}

model::Component MainComponent(std::string_view source) {
  return source == "rapl-sysfs" || source == "trained_power_model" ? model::Component::kPackage
                                                                   : model::Component::kPlatform;
}

}  // namespace kepler::modelserver
