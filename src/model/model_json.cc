#include "model/model_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/document.h"
#include "model/machine_json.h"
#include "model/predictor_json.h"

namespace kepler::model {
namespace {

constexpr uint64_t kFormat = 1;
constexpr uint64_t kMaxRows = uint64_t{1} << 53;  // up to this number, doubles distinguish all row counts

Status CheckFormat(const json::Cursor& root) {
  KEPLER_TRY(const auto at, root.Find("kepler_model"));
  if (!at) return root.Refuse("\"kepler_model\" is missing: not a model of kepler-model");
  KEPLER_TRY(const uint64_t format, at->Count());
  if (format != kFormat)
    return at->Refuse(fmt::format("version {} is not supported; this program reads version {}", format, kFormat));
  return {};
}

Result<OutputType> OutputOf(const json::Cursor& root) {
  KEPLER_TRY(const json::Cursor at, root.Member("output"));
  KEPLER_TRY(const auto name, at.Text());
  for (const auto type : {OutputType::kAbsPower, OutputType::kDynPower})
    if (name == Name(type)) return type;
  return at.Refuse(fmt::format("\"{}\" is neither AbsPower nor DynPower", EscapeControls(name.substr(0, 40))));
}

/// "per" is not in files of models of whole machines.
Result<Per> PerOf(const json::Cursor& root) {
  KEPLER_TRY(const auto at, root.Find("per"));
  if (!at) return Per::kMachine;
  KEPLER_TRY(const auto name, at->Text());
  for (const auto per : {Per::kMachine, Per::kCore})
    if (name == Name(per)) return per;
  return at->Refuse(fmt::format("\"{}\" is neither machine nor core", EscapeControls(name.substr(0, 40))));
}

/// A number that is not in the file stays as it is.
Status ReadNumber(const json::Cursor& object, std::string_view key, uint32_t& number) {
  KEPLER_TRY(const auto at, object.Find(key));
  if (!at) return {};
  KEPLER_TRY(const uint64_t count, at->Count());
  number = static_cast<uint32_t>(count);
  return {};
}

Result<std::optional<MachineSpec>> MachineOf(const json::Cursor& root) {
  std::vector<std::string_view> keys = {"processor", "cpuid", "is_guest"};
  for (const NumberAttribute& number : kNumberAttributes) keys.push_back(number.name);
  KEPLER_TRY(const auto at, root.Find("machine"));
  if (!at) return std::nullopt;
  KEPLER_CHECK_OK(at->OnlyKeys(keys));
  MachineSpec machine;
  KEPLER_TRY(const auto processor, at->Find("processor"));
  if (processor) {
    KEPLER_TRY(machine.processor, processor->Text());
  }
  for (const NumberAttribute& number : kNumberAttributes)
    KEPLER_CHECK_OK(ReadNumber(*at, number.name, machine.*number.value));
  KEPLER_CHECK_OK(ReadIdentity(*at, machine));
  return machine;
}

Result<std::optional<Accuracy>> AccuracyOf(const json::Cursor& object, std::string_view key) {
  constexpr std::string_view kKeys[] = {"rows", "mae_watts", "mape", "r2"};
  KEPLER_TRY(const auto at, object.Find(key));
  if (!at) return std::nullopt;
  KEPLER_CHECK_OK(at->OnlyKeys(kKeys));
  Accuracy accuracy;
  KEPLER_TRY(accuracy.rows, at->Count("rows", kMaxRows));
  KEPLER_TRY(accuracy.mae_watts, at->Number("mae_watts"));
  KEPLER_TRY(accuracy.mape, at->Number("mape"));
  KEPLER_TRY(accuracy.r2, at->Number("r2"));
  return accuracy;
}

Result<TestedRows> TestedOf(const json::Cursor& object) {
  constexpr std::string_view kKeys[] = {"actual", "predicted"};
  KEPLER_TRY(const auto at, object.Find("tested"));
  if (!at) return TestedRows();
  KEPLER_CHECK_OK(at->OnlyKeys(kKeys));
  KEPLER_TRY(const auto actual, at->Numbers("actual"));
  KEPLER_TRY(const auto predicted, at->Numbers("predicted"));
  return TestedRows{{actual.begin(), actual.end()}, {predicted.begin(), predicted.end()}};
}

Result<ComponentModel> ComponentFrom(const json::Cursor& object) {
  constexpr std::string_view kKeys[] = {"component", "trainer", "label", "accuracy", "unseen", "tested", "predictor"};
  KEPLER_CHECK_OK(object.OnlyKeys(kKeys));
  ComponentModel component;
  KEPLER_TRY(const json::Cursor name, object.Member("component"));
  KEPLER_TRY(const auto text, name.Text());
  const auto known = ComponentOf(text);
  if (!known)
    return name.Refuse(
        fmt::format("\"{}\" is not one of package, core, uncore, dram, platform", EscapeControls(text.substr(0, 40))));
  component.component = *known;
  KEPLER_TRY(component.trainer, object.Text("trainer"));
  KEPLER_TRY(const json::Cursor label, object.Member("label"));
  KEPLER_TRY(component.label, ReadRange(label));
  KEPLER_TRY(component.accuracy, AccuracyOf(object, "accuracy"));
  KEPLER_TRY(component.unseen, AccuracyOf(object, "unseen"));
  KEPLER_TRY(component.tested, TestedOf(object));
  KEPLER_TRY(const json::Cursor predictor, object.Member("predictor"));
  KEPLER_TRY(component.predictor, ReadPredictor(predictor));
  return component;
}

void WriteMachine(const MachineSpec& machine, std::string& out) {
  out += ",\n\"machine\":{\"processor\":" + json::Quote(machine.processor);
  for (const NumberAttribute& number : kNumberAttributes)
    if (machine.*number.value > 0)
      fmt::format_to(std::back_inserter(out), ",\"{}\":{}", number.name, machine.*number.value);
  out += IdentityJson(machine) + '}';
}

void WriteAccuracy(std::string_view key, const std::optional<Accuracy>& accuracy, std::string& out) {
  if (!accuracy) return;
  fmt::format_to(std::back_inserter(out), R"(,"{}":{{"rows":{},"mae_watts":{},"mape":{},"r2":{}}})", key,
                 accuracy->rows, accuracy->mae_watts, accuracy->mape, accuracy->r2);
}

void WriteComponent(const ComponentModel& component, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"({{"component":"{}","trainer":{},"label":)", Name(component.component),
                 json::Quote(component.trainer));
  WriteRange(component.label, out);
  WriteAccuracy("accuracy", component.accuracy, out);
  WriteAccuracy("unseen", component.unseen, out);
  if (!component.tested.actual.empty())
    fmt::format_to(std::back_inserter(out), R"(,"tested":{{"actual":[{}],"predicted":[{}]}})",
                   fmt::join(component.tested.actual, ","), fmt::join(component.tested.predicted, ","));
  out += ",\n \"predictor\":";
  WritePredictor(component.predictor, out);
  out += '}';
}

}  // namespace

Result<PowerModel> ReadModelJson(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  return ReadModelJson(document);
}

Result<PowerModel> ReadModelJson(const json::Value& document) {
  constexpr std::string_view kKeys[] = {"kepler_model", "name",   "version", "output",    "per",
                                        "features",     "domain", "machine", "components"};
  const json::Cursor root(document);
  KEPLER_CHECK_OK(CheckFormat(root));
  KEPLER_CHECK_OK(root.OnlyKeys(kKeys));
  PowerModel model;
  KEPLER_TRY(model.name, root.Text("name"));
  KEPLER_CHECK_OK(ReadNumber(root, "version", model.version));
  KEPLER_TRY(model.output, OutputOf(root));
  KEPLER_TRY(model.per, PerOf(root));
  KEPLER_TRY(model.features, root.Texts("features"));
  KEPLER_TRY(model.domain, ReadRanges(root, "domain"));
  KEPLER_TRY(model.machine, MachineOf(root));
  KEPLER_TRY(const auto elements, root.Elements("components"));
  for (const json::Cursor& element : elements) {
    KEPLER_TRY(auto component, ComponentFrom(element));
    model.components.push_back(std::move(component));
  }
  KEPLER_CHECK_OK(Check(model));
  return model;
}

std::string WriteModelJson(const PowerModel& model) {
  std::string out = fmt::format("{{\"kepler_model\":{},\n\"name\":{},\n\"version\":{},\n\"output\":\"{}\"", kFormat,
                                json::Quote(model.name), model.version, Name(model.output));
  if (model.per == Per::kCore) out += ",\n\"per\":\"core\"";
  out += ",\n\"features\":" + json::QuoteList(model.features);
  WriteRanges("domain", model.domain, out);
  if (model.machine) WriteMachine(*model.machine, out);
  out += ",\n\"components\":[";
  for (size_t i = 0; i < model.components.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    WriteComponent(model.components[i], out);
  }
  return out += "]}\n";
}

}  // namespace kepler::model
