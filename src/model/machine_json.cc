#include "model/machine_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "json/document.h"

namespace kepler::model {
namespace {

constexpr size_t kMaxMachineValues = 1'000'000;

constexpr std::array<std::string_view, 11> kMachineKeys = {
    "processor", "cores",     "chips",  "memory_gib", "frequency_mhz", "threads_per_core",
    "memory",    "frequency", "vendor", "cpuid",      "is_guest"};

Status ReadNumber(const json::Cursor& object, const NumberAttribute& key, MachineSpec& machine) {
  KEPLER_TRY(auto at, object.Find(key.name));
  if (!key.old_name.empty()) {
    KEPLER_TRY(const auto old, object.Find(key.old_name));
    if (at && old) return object.Refuse(fmt::format(R"(both "{}" and "{}")", key.name, key.old_name));
    if (old) at = old;
  }
  if (!at || at->IsNull()) return {};
  KEPLER_TRY(const uint64_t number, at->Count());
  machine.*key.value = static_cast<uint32_t>(number);
  return {};
}

Result<MachineSpec> ReadAttributes(const json::Cursor& object) {
  KEPLER_CHECK_OK(object.OnlyKeys(kMachineKeys));
  MachineSpec machine;
  KEPLER_TRY(const auto processor, object.Find("processor"));
  if (processor && !processor->IsNull()) {
    KEPLER_TRY(const std::string_view text, processor->Text());
    if (text.size() > kMaxLabelBytes)
      return processor->Refuse(fmt::format("{} bytes; the maximum is {}", text.size(), kMaxLabelBytes));
    machine.processor = NormalProcessorName(text);
  }
  for (const NumberAttribute& key : kNumberAttributes) KEPLER_CHECK_OK(ReadNumber(object, key, machine));
  KEPLER_CHECK_OK(ReadIdentity(object, machine));
  return machine;
}

/// Reads {"attrs": {...}, "members": [...]}, the entry of each type in the index.
Result<NodeType> ReadNodeType(const json::Cursor& object) {
  constexpr std::array<std::string_view, 2> kKeys = {"attrs", "members"};
  KEPLER_CHECK_OK(object.OnlyKeys(kKeys));
  NodeType type;
  KEPLER_TRY(const json::Cursor attributes, object.Member("attrs"));
  KEPLER_TRY(type.machine, ReadAttributes(attributes));
  KEPLER_TRY(const auto members, object.Find("members"));
  if (members) {
    KEPLER_TRY(const auto ids, members->Elements());
    type.members = ids.size();
  }
  return type;
}

Result<CpuId> ReadCpuId(const json::Cursor& object) {
  constexpr std::array<std::string_view, 4> kKeys = {"vendor", "family", "model", "features"};
  KEPLER_CHECK_OK(object.OnlyKeys(kKeys));
  CpuId id;
  KEPLER_TRY(id.vendor, object.Text("vendor"));
  if (id.vendor.empty()) return object.Refuse("the vendor is empty");
  KEPLER_TRY(const uint64_t family, object.Count("family"));
  KEPLER_TRY(const uint64_t model, object.Count("model"));
  KEPLER_TRY(id.features, object.Texts("features"));
  id.family = static_cast<uint32_t>(family);
  id.model = static_cast<uint32_t>(model);
  std::ranges::sort(id.features);
  return id;
}

Result<MachineSpec> ReadMachine(const json::Cursor& object) {
  KEPLER_TRY(const auto attributes, object.Find("attrs"));
  if (!attributes) return ReadAttributes(object);
  KEPLER_TRY(const NodeType type, ReadNodeType(object));
  return type.machine;
}

}  // namespace

Status ReadIdentity(const json::Cursor& object, MachineSpec& machine) {
  KEPLER_TRY(const auto id, object.Find("cpuid"));
  if (id && !id->IsNull()) {
    KEPLER_TRY(machine.cpuid, ReadCpuId(*id));
  }
  KEPLER_TRY(const auto guest, object.Find("is_guest"));
  if (guest) {
    KEPLER_TRY(machine.is_guest, guest->Bool());
  }
  return {};
}

std::string IdentityJson(const MachineSpec& machine) {
  const CpuId& id = machine.cpuid;
  std::string out;
  if (!id.vendor.empty())
    out = fmt::format(R"(,"cpuid":{{"vendor":{},"family":{},"model":{},"features":{}}})", json::Quote(id.vendor),
                      id.family, id.model, json::QuoteList(id.features));
  if (machine.is_guest) out += R"(,"is_guest":true)";
  return out;
}

Result<MachineSpec> ReadMachineJson(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text, kMaxMachineValues));
  return ReadMachine(json::Cursor(document));
}

Result<MachinesByName> ReadMachinesJson(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text, kMaxMachineValues));
  const json::Cursor root(document);
  KEPLER_TRY(const auto* const members, root.Members());
  MachinesByName machines;
  for (const auto& [name, value] : *members) {
    if (name == "attrs" || name == "cpuid" || !root.At(value).Members()) break;
    KEPLER_TRY(MachineSpec machine, ReadMachine(root.At(value)));
    if (!machines.emplace(name, std::move(machine)).second)
      return root.Refuse(
          fmt::format("the machine \"{}\" appears twice", EscapeControls(std::string_view(name).substr(0, 40))));
  }
  if (!machines.empty() && machines.size() == members->size()) return machines;
  KEPLER_TRY(machines[""], ReadMachine(root));
  return machines;
}

Result<std::optional<MachineSpec>> ReadMachineSpec(const json::Cursor& file) {
  constexpr uint64_t kMax = 1'000'000'000;
  KEPLER_TRY(const auto at, file.Find("machine_spec"));
  if (!at || at->IsNull()) return std::nullopt;
  MachineSpec machine;
  KEPLER_TRY(const auto processor, at->Find("processor"));
  if (processor) {
    KEPLER_TRY(machine.processor, processor->Text());
  }
  for (const NumberAttribute& key : kNumberAttributes) {
    KEPLER_TRY(const auto number, at->Find(key.old_name.empty() ? key.name : key.old_name));
    if (!number || number->IsNull()) continue;
    KEPLER_TRY(const uint64_t count, number->Count(kMax));
    machine.*key.value = static_cast<uint32_t>(count);
  }
  return machine;
}

std::string WriteMachineJson(const MachineSpec& machine) {
  std::string out = "{";
  const auto add = [&](std::string_view key, const std::string& value) {
    out += fmt::format("{}\"{}\":{}", out.size() > 1 ? "," : "", key, value);
  };
  if (!machine.processor.empty()) add("processor", json::Quote(machine.processor));
  for (const NumberAttribute& key : kNumberAttributes)
    if (machine.*key.value > 0) add(key.name, std::to_string(machine.*key.value));
  const std::string identity = IdentityJson(machine);
  return out + identity.substr(out.size() == 1 && !identity.empty() ? 1 : 0) + "}";
}

Result<std::vector<NodeType>> ReadNodeTypesJson(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text, kMaxMachineValues));
  const json::Cursor root(document);
  KEPLER_TRY(const auto* const members, root.Members());
  std::vector<NodeType> types;
  for (const auto& [key, value] : *members) {
    const auto number = ParseNumber<uint32_t>(key);
    if (!number)
      return root.Refuse(fmt::format("\"{}\" is not the number of a type", EscapeControls(key.substr(0, 40))));
    KEPLER_TRY(NodeType type, ReadNodeType(root.At(value)));
    type.number = *number;
    types.push_back(std::move(type));
  }
  std::ranges::sort(types, {}, &NodeType::number);
  if (const auto twice = std::ranges::adjacent_find(types, {}, &NodeType::number); twice != types.end())
    return root.Refuse(fmt::format("the type {} appears twice", twice->number));
  return types;
}

}  // namespace kepler::model
