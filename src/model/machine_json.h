#pragma once
// Machines as JSON: {"processor": "amd_epyc_7763", "cores": 128, "chips": 2, "memory_gib": 503, "frequency_mhz": 3500,
// "cpuid": {"vendor": "AuthenticAMD", "family": 25, "model": 1, "features": ["avx2"]}, "is_guest": false}.
// The published model server (0.7) uses "memory" and "frequency", in "attrs" or at the top level; these files can be
// read too. Pure.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "model/machine.h"
#include "model/node_types.h"

namespace kepler::model {

/// An attribute that is missing or null is unknown. The processor's name is normalised. Errors: kMalformed with the
/// place, also for an unknown key. The model server's key vendor is ignored.
[[nodiscard]] Result<MachineSpec> ReadMachineJson(std::string_view text);
using MachinesByName = std::map<std::string, MachineSpec, std::less<>>;
/// Reads several machines by name, {"node-a": {"processor": ...}, "node-b": {...}}, or one machine as above, whose name
/// is "". node_type_index.json has this form, too.
[[nodiscard]] Result<MachinesByName> ReadMachinesJson(std::string_view text);
/// Returns the "machine_spec" of a weight file or of its metadata file; nothing if the key is missing or null. The
/// processor's name is as it stands, and other keys are ignored.
[[nodiscard]] Result<std::optional<MachineSpec>> ReadMachineSpec(const json::Cursor& file);
/// Reads "cpuid" and "is_guest" of a machine; a missing or null "cpuid" is unknown.
[[nodiscard]] Status ReadIdentity(const json::Cursor& object, MachineSpec& machine);
/// Returns ,"cpuid":{...},"is_guest":true without the unknown parts: "" if nothing is known.
[[nodiscard]] std::string IdentityJson(const MachineSpec& machine);
/// Writes one line, without its end. Unknown attributes are left out. Reading gives the same machine if its name is
/// normalised.
[[nodiscard]] std::string WriteMachineJson(const MachineSpec& machine);

/// node_type_index.json: {"0": {"attrs": {...}, "members": ["id", ...]}, ...}, by number.
[[nodiscard]] Result<std::vector<NodeType>> ReadNodeTypesJson(std::string_view text);

}  // namespace kepler::model
