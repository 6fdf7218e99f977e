#pragma once
// Redfish resources as they really are: links, chassis and power readings in the JSON of many vendors and ages.
// Sources: DMTF DSP0266 and DSP2046 (schema guide), and answers of real BMCs as reported by other exporters. Pure.
//
//   Dell iDRAC 7     LastPowerOutputWatts is null; only PowerControl has the true power
//   HPE iLO 4        links are "links": {"Power": {"href": "/rest/…/"}}; PowerConsumedWatts is at the top level too
//   Fujitsu iRMC     only Oem.ts_fujitsu.ChassisPowerConsumption.CurrentPowerConsumptionW
//   upstream's mock  PowerInputWatts and PowerOutputWatts in the PowerSupply itself
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "json/document.h"

namespace kepler::energy::platform::redfish {

/// Returns the target of the link `name` of `resource`, at the top level or below Links; "" if there is none that can
/// be fetched. The part after '#' is removed: it is a place in the answer, which no server understands.
[[nodiscard]] std::string LinkOf(const json::Value& resource, std::string_view name);
/// Returns the targets of the members of a collection.
[[nodiscard]] std::vector<std::string> MembersOf(const json::Value& collection);
/// Returns the target of the next part of a collection; "" if this is the last one.
[[nodiscard]] std::string NextOf(const json::Value& collection);
/// Returns a text of `resource`; "" if it is missing or not a text. At most 255 bytes.
[[nodiscard]] std::string TextOf(const json::Value& resource, std::string_view name);
/// Returns Id, or without it the last part of `uri`.
[[nodiscard]] std::string IdOf(const json::Value& resource, std::string_view uri);

/// Returns false if the slot is empty or switched off: Status.State is Absent or Disabled.
[[nodiscard]] bool IsThere(const json::Value& resource);
/// Returns true for a part of a machine (a GPU module, a card) and for a rack of machines.
[[nodiscard]] bool IsPartOrRack(std::string_view chassis_type);

/// A number of watts, a text with one, or a sensor excerpt with a Reading. kUnavailable if it is null, kMalformed if it
/// is negative or not a number.
[[nodiscard]] Result<Power> WattsOf(const json::Value& value);

/// EnergykWh of a resource: a number of kWh, a text with one, or a sensor excerpt with a Reading. Nothing if it is
/// missing, null, negative or too large for a machine.
[[nodiscard]] std::optional<Energy> CounterOf(const json::Value& resource);

/// A kind of resource that has power readings.
enum class Kind : uint8_t {
  kMetrics,      // PowerSupplyMetrics: input, or without it output
  kSupply,       // PowerSupply with its power in it
  kEnvironment,  // EnvironmentMetrics of a chassis
  kControls,     // Power: PowerControl, or what a vendor has instead
  kOldSupplies   // Power: PowerSupplies
};

/// What a control measures, by its name, PhysicalContext and RelatedItem.
enum class Scope : uint8_t {
  kUnknown,
  kPart,      // CPUs, memory or another part of a server
  kServer,    // a computer system
  kContainer  // the chassis: usually the server with its fans and supplies, or an enclosure with other servers too
};

struct Reading {
  std::string id;    // within the resource; "" if the resource has only one
  std::string name;  // as the BMC names it
  Scope scope = Scope::kUnknown;
  Result<Power> power;
  std::optional<Energy> counter{};  // EnergykWh of the same input; empty if the resource has none
};

/// Returns the readings in `resource`, at most kMaxReadings with different ids. Empty if it has none, not even a null.
[[nodiscard]] std::vector<Reading> ReadingsOf(const json::Value& resource, Kind kind);
inline constexpr size_t kMaxReadings = 64;

/// The control that measures the machine.
struct Choice {
  std::optional<size_t> whole;  // index; none if there is no such control, or if it has no power
  std::string doubt;            // why another one may be right; "" if the choice is certain
};

/// Chooses the control that measures the machine. Controls are never added: a server contains its parts, a chassis its
/// servers. `systems`: number of computer systems in the chassis, if the BMC tells.
///   one that is not a part      that one; a single control in any case
///   one system                  the one with the most power
///   several systems             the server, if there is only one control for a server
///   unknown number              a server rather than a chassis, which may contain others; otherwise the most power
[[nodiscard]] Choice ChooseControl(std::span<const Reading> controls, std::optional<size_t> systems);
/// Returns the number of computer systems in a chassis, if it has that list.
[[nodiscard]] std::optional<size_t> SystemsIn(const json::Value& chassis);

/// Returns the reason in the body of a refusal; "" if there is none.
[[nodiscard]] std::string ReasonOf(std::string_view body);
/// Returns true if the refusal means that the BMC lacks a licence.
[[nodiscard]] bool IsAboutLicence(std::string_view body);

}  // namespace kepler::energy::platform::redfish
