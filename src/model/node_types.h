#pragma once
// The kinds of machine that a database of models knows, and which of them a machine is. The rules are those of the
// published model server (0.7). Pure.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "model/machine.h"

namespace kepler::model {

struct NodeType {
  uint32_t number = 0;  // as models end in it: "SGDRegressorTrainer_3"
  MachineSpec machine;
  uint64_t members = 0;  // machines of it that were measured
  bool operator==(const NodeType&) const = default;
};

struct NodeTypeMatch {
  size_t type = 0;         // in the list
  double similarity = 0;   // 0 to 1, of the machine to it
  double uncertainty = 0;  // 0 to 1: 1 − its part of the members of all types that the machine may as well be
};

/// Of types that cover all that `machine` knows: the first where it knows everything, else the one with most members.
/// Where none covers it, the most similar one, of equal ones that with most members; then types may as well be the
/// machine's that are equal in what this one is equal in. kNotFound where there are no types.
[[nodiscard]] Result<NodeTypeMatch> FindNodeType(std::span<const NodeType> types, const MachineSpec& machine);

}  // namespace kepler::model
