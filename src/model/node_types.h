#pragma once
// Node types of a model database, and the match of a machine to a type. The rules are those of the published model
// server (0.7). Pure.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "model/machine.h"

namespace kepler::model {

struct NodeType {
  uint32_t number = 0;  // number at the end of a model's name: "SGDRegressorTrainer_3"
  MachineSpec machine;
  uint64_t members = 0;  // number of measured machines of this type
  bool operator==(const NodeType&) const = default;
};

struct NodeTypeMatch {
  size_t type = 0;         // index in the list
  double similarity = 0;   // 0 to 1: similarity of the machine to the type
  double uncertainty = 0;  // 0 to 1: 1 − the type's share of the members of all equally possible types
};

/// If types cover all known attributes of `machine`, returns the first one if the machine knows every attribute,
/// otherwise the type with most members. If no type covers them, returns the most similar type; on ties the type with
/// most members. Equally possible types are then those with the same values where the returned type equals the machine.
/// kNotFound if the list is empty.
[[nodiscard]] Result<NodeTypeMatch> FindNodeType(std::span<const NodeType> types, const MachineSpec& machine);

}  // namespace kepler::model
