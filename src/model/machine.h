#pragma once
// What a machine is, as far as models care, and how alike two are. The rules are those of the published model server
// (0.7), so that its node types mean the same here. Pure.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/machine_info.h"

namespace kepler::model {

/// An attribute that is not known is empty or 0.
struct MachineSpec {
  std::string processor{};  // normalised: "intel_xeon_e5_2686v4"
  uint32_t cores = 0;       // logical CPUs
  uint32_t chips = 0;       // physical packages
  uint32_t memory_gib = 0;
  uint32_t frequency_mhz = 0;  // to the nearest 100
  bool operator==(const MachineSpec&) const = default;
};

/// "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz" -> "intel_xeon_e5_2686v4". One difference: where the model server cuts a
/// name at its first bracket, only the brackets go here, so that "Core(TM) i7-8700" keeps its model.
[[nodiscard]] std::string NormalProcessorName(std::string_view brand);

/// `info` as models name it.
[[nodiscard]] MachineSpec SpecOf(const MachineInfo& info);

/// 0 to 1: the mean over what `wanted` knows, weighted: processor 5, cores 1, chips 1, memory 0.5, frequency 0.5. Equal
/// processors count 1, others half the share of letters that they have in common (Jaccard); numbers 1 − |a − b| over
/// their mean, at least 0. What `other` does not know counts 0. 1 where `wanted` knows nothing: everything covers it.
[[nodiscard]] double Similarity(const MachineSpec& wanted, const MachineSpec& other);

/// Whether everything that `wanted` knows is equal in `other`.
[[nodiscard]] bool Covers(const MachineSpec& wanted, const MachineSpec& other);

}  // namespace kepler::model
