#include "energy/platform/redfish/resource.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::energy::platform::redfish {
namespace {

using json::Value;

constexpr size_t kMaxLink = 1024;
constexpr size_t kMaxMembers = 256;

/// The member of an object; null if `value` is not an object or lacks it.
const Value* At(const Value* value, std::string_view key) {
  const auto* const object = value != nullptr ? std::get_if<Value::Object>(&value->value) : nullptr;
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(*object, key, &json::Member::key);
  return found != object->end() ? &found->value : nullptr;
}
const Value* At(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* at = &value;
  for (const std::string_view key : path) at = At(at, key);
  return at;
}
bool IsNull(const Value& value) { return std::holds_alternative<std::nullptr_t>(value.value); }
const std::string* Text(const Value* value) {
  return value != nullptr ? std::get_if<std::string>(&value->value) : nullptr;
}

std::optional<double> NumberOf(const Value& value) {
  if (const double* const number = std::get_if<double>(&value.value)) return *number;
  const std::string* const text = Text(&value);
  return text != nullptr ? ParseNumber<double>(Trim(*text)) : std::nullopt;
}

bool IsTarget(std::string_view text) {
  return text.starts_with('/') && !text.starts_with("//") && text.size() <= kMaxLink &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

/// The target of {"@odata.id": …}, or of {"href": …} as before Redfish 1.0.
std::string TargetOf(const Value* link) {
  for (const std::string_view key : {"@odata.id", "href"})
    if (const std::string* const text = Text(At(link, key))) {
      const std::string target = text->substr(0, text->find('#'));
      if (IsTarget(target)) return target;
    }
  return "";
}

bool ContainsAnyOf(std::string_view text, std::span<const std::string_view> words) {
  const std::string lower = ToLowerAscii(text);
  return std::ranges::any_of(words, [&](std::string_view word) { return lower.contains(word); });
}

/// Sources of the names: XCC ("Server Power Control", "CPU Sub-system Power"), iDRAC and OpenBMC ("System Power
/// Control"), the schema's examples ("Chassis Power Control"), the values of PhysicalContext.
Scope ScopeOfText(std::string_view text) {
  constexpr auto kParts = std::to_array<std::string_view>({"cpu", "processor", "memory", "dimm", "dram", "gpu",
                                                           "accelerator", "fan", "cooling", "storage", "disk", "drive",
                                                           "pcie", "network", "subsystem", "sub-system", "backplane"});
  constexpr auto kServers = std::to_array<std::string_view>({"server", "system", "node", "blade", "sled"});
  constexpr auto kChassis = std::to_array<std::string_view>({"chassis", "enclosure"});
  if (ContainsAnyOf(text, kParts)) return Scope::kPart;
  if (ContainsAnyOf(text, kServers)) return Scope::kServer;
  return ContainsAnyOf(text, kChassis) ? Scope::kContainer : Scope::kUnknown;
}

/// By the resources that an entry is about: "/redfish/v1/Systems/1" or a part of it, "/redfish/v1/Chassis/1".
Scope ScopeOfRelated(const Value& entry) {
  const Value* const related = At(&entry, "RelatedItem");
  const auto* const items = related != nullptr ? std::get_if<Value::List>(&related->value) : nullptr;
  if (items == nullptr) return Scope::kUnknown;
  Scope scope = Scope::kUnknown;
  for (const Value& item : *items) {
    const std::string target = ToLowerAscii(TargetOf(&item));
    if (target.contains("/processors") || target.contains("/memory"))
      scope = std::max(scope, Scope::kPart);
    else if (target.contains("/systems/"))
      scope = std::max(scope, Scope::kServer);
    else if (target.contains("/chassis/"))
      scope = std::max(scope, Scope::kContainer);
  }
  return scope;
}

Scope ScopeOf(const Value& entry) {
  const Scope name = ScopeOfText(TextOf(entry, "Name"));
  if (name != Scope::kUnknown) return name;
  const Scope context = ScopeOfText(TextOf(entry, "PhysicalContext"));
  return context != Scope::kUnknown ? context : ScopeOfRelated(entry);
}

/// The first of `keys` that has a value above zero; otherwise the first with a value, and otherwise the first that is
/// there. Null if none is there.
const Value* FirstOf(const Value& resource, std::initializer_list<std::string_view> keys) {
  const Value* best = nullptr;
  int best_rank = -1;
  for (const std::string_view key : keys) {
    const Value* const value = At(&resource, key);
    if (value == nullptr) continue;
    const auto watts = WattsOf(*value);
    const int rank = !watts ? 0 : watts->watts() > 0 ? 2 : 1;
    if (rank <= best_rank) continue;
    best = value;
    best_rank = rank;
  }
  return best;
}

/// The first of `keys` is the input, which EnergykWh counts too.
std::vector<Reading> OneOf(const Value& resource, std::initializer_list<std::string_view> keys) {
  std::vector<Reading> readings;
  const Value* const value = FirstOf(resource, keys);
  if (value == nullptr) return readings;
  const bool is_input = value == At(&resource, *keys.begin());
  readings.push_back({.id = "",
                      .name = TextOf(resource, "Name"),
                      .power = WattsOf(*value),
                      .counter = is_input ? CounterOf(resource) : std::nullopt});
  return readings;
}

/// The entries of a list in the old Power resource; `keys` are those of its power.
std::vector<Reading> EntriesOf(const Value& power, std::string_view list,
                               std::initializer_list<std::string_view> keys) {
  std::vector<Reading> readings;
  const Value* const value = At(&power, list);
  const auto* const entries = value != nullptr ? std::get_if<Value::List>(&value->value) : nullptr;
  if (entries == nullptr) return readings;
  for (size_t i = 0; i < std::min(entries->size(), kMaxReadings); ++i) {
    const Value& entry = (*entries)[i];
    const Value* const watts = FirstOf(entry, keys);
    if (watts == nullptr || !IsThere(entry)) continue;
    std::string id = TextOf(entry, "MemberId");
    if (id.empty()) id = fmt::format("{}", i);
    while (std::ranges::find(readings, id, &Reading::id) != readings.end()) id += fmt::format("-{}", i);
    readings.push_back(
        {.id = std::move(id), .name = TextOf(entry, "Name"), .scope = ScopeOf(entry), .power = WattsOf(*watts)});
  }
  return readings;
}

bool HasPower(std::span<const Reading> readings) {
  return std::ranges::any_of(readings, [](const Reading& reading) { return reading.power.has_value(); });
}

std::vector<Reading> ControlsOf(const Value& power) {
  std::vector<Reading> controls = EntriesOf(power, "PowerControl", {"PowerConsumedWatts"});
  if (HasPower(controls)) return controls;
  const Value* const elsewhere[] = {
      At(&power, "PowerConsumedWatts"),
      At(power, {"Oem", "ts_fujitsu", "ChassisPowerConsumption", "CurrentPowerConsumptionW"})};
  for (const Value* const value : elsewhere)
    if (value != nullptr && WattsOf(*value)) return {{.id = "0", .name = "Chassis power", .power = WattsOf(*value)}};
  return controls;
}

}  // namespace

std::string LinkOf(const Value& resource, std::string_view name) {
  for (const Value* const place : {&resource, At(&resource, "Links"), At(&resource, "links")})
    if (std::string target = TargetOf(At(place, name)); !target.empty()) return target;
  return "";
}

std::vector<std::string> MembersOf(const Value& collection) {
  std::vector<std::string> members;
  for (const Value* const value : {At(&collection, "Members"), At(collection, {"links", "Member"})}) {
    const auto* const list = value != nullptr ? std::get_if<Value::List>(&value->value) : nullptr;
    if (list == nullptr) continue;
    for (const Value& member : *list) {
      std::string target = TargetOf(&member);
      const bool known = std::ranges::find(members, target) != members.end();
      if (!target.empty() && !known && members.size() < kMaxMembers) members.push_back(std::move(target));
    }
    if (!members.empty()) break;
  }
  return members;
}

std::string NextOf(const Value& collection) {
  const std::string* const next = Text(At(&collection, "Members@odata.nextLink"));
  return next != nullptr && IsTarget(*next) ? *next : "";
}

std::string TextOf(const Value& resource, std::string_view name) {
  const Value* const value = At(&resource, name);
  if (const std::string* const text = Text(value)) return LabelText(*text);
  // Some BMCs write an id as a number.
  const double* const number = value != nullptr ? std::get_if<double>(&value->value) : nullptr;
  return number != nullptr ? fmt::format("{}", *number) : "";
}

std::string IdOf(const Value& resource, std::string_view uri) {
  std::string id = TextOf(resource, "Id");
  if (!id.empty()) return id;
  while (uri.ends_with('/')) uri.remove_suffix(1);
  return LabelText(uri.substr(uri.rfind('/') + 1));
}

bool IsThere(const Value& resource) {
  const std::string* const state = Text(At(resource, {"Status", "State"}));
  if (state == nullptr) return true;
  const std::string lower = ToLowerAscii(*state);
  return lower != "absent" && lower != "disabled";
}

bool IsPartOrRack(std::string_view chassis_type) {
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"module", "component", "card", "cartridge", "zone", "ipbaseddrive", "rack", "pod", "row", "facility"});
  return std::ranges::find(kTypes, ToLowerAscii(chassis_type)) != kTypes.end();
}

Result<Power> WattsOf(const Value& value) {
  if (IsNull(value)) return Fail(ErrorKind::kUnavailable, "the BMC has no power reading (null)");
  if (std::holds_alternative<Value::Object>(value.value)) {
    const Value* const reading = At(&value, "Reading");
    if (reading == nullptr || std::holds_alternative<Value::Object>(reading->value))
      return Fail(ErrorKind::kMalformed, "the power is an object without Reading");
    return WattsOf(*reading);
  }
  const std::optional<double> watts = NumberOf(value);
  if (!watts || !std::isfinite(*watts)) return Fail(ErrorKind::kMalformed, "the power is not a number");
  if (*watts < 0) return Fail(ErrorKind::kMalformed, fmt::format("the power is negative ({} W)", *watts));
  return Power::Watts(*watts);
}

std::optional<Energy> CounterOf(const Value& resource) {
  constexpr double kMaxKilowattHours = 2e6;  // 10 kW for 20 years; below the range of Energy
  const Value* value = At(&resource, "EnergykWh");
  if (const Value* const reading = At(value, "Reading")) value = reading;
  const std::optional<double> kwh = value != nullptr ? NumberOf(*value) : std::nullopt;
  if (!kwh || !(*kwh >= 0 && *kwh <= kMaxKilowattHours)) return std::nullopt;
  return Energy::Microjoules(std::llround(*kwh * 3.6e12));
}

std::vector<Reading> ReadingsOf(const Value& resource, Kind kind) {
  switch (kind) {
    case Kind::kMetrics:
      return OneOf(resource, {"InputPowerWatts", "OutputPowerWatts"});
    case Kind::kSupply:
      return OneOf(resource, {"PowerInputWatts", "InputPowerWatts", "PowerOutputWatts", "LastPowerOutputWatts"});
    case Kind::kEnvironment:
      return OneOf(resource, {"PowerWatts"});
    case Kind::kControls:
      return ControlsOf(resource);
    case Kind::kOldSupplies:
      return EntriesOf(resource, "PowerSupplies", {"PowerInputWatts", "PowerOutputWatts", "LastPowerOutputWatts"});
  }
  return {};
}

std::optional<size_t> SystemsIn(const Value& chassis) {
  const Value* const systems = At(chassis, {"Links", "ComputerSystems"});
  const auto* const list = systems != nullptr ? std::get_if<Value::List>(&systems->value) : nullptr;
  return list != nullptr && !list->empty() ? std::optional(list->size()) : std::nullopt;
}

std::string ReasonOf(std::string_view body) {
  const auto parsed = json::Parse(body, 1000);
  if (!parsed) return "";
  const Value* const extended = At(*parsed, {"error", "@Message.ExtendedInfo"});
  const auto* const list = extended != nullptr ? std::get_if<Value::List>(&extended->value) : nullptr;
  if (list != nullptr && !list->empty())
    if (std::string message = TextOf(list->front(), "Message"); !message.empty()) return message;
  const Value* const error = At(&*parsed, "error");
  return error != nullptr ? TextOf(*error, "message") : "";
}

bool IsAboutLicence(std::string_view body) {
  constexpr auto kWords = std::to_array<std::string_view>({"license", "licence", "licensing"});
  return ContainsAnyOf(body, kWords);
}

}  // namespace kepler::energy::platform::redfish
