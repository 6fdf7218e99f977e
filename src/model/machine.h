#pragma once
// Attributes of a machine that models use, and the similarity of two machines. The rules are those of the published
// model server (0.7), so that its node types have the same meaning here. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/machine_info.h"
#include "base/result.h"

namespace kepler::model {

/// An unknown attribute is empty or 0.
struct MachineSpec {
  std::string processor{};  // normalised: "intel_xeon_e5_2686v4"
  uint32_t cores = 0;       // logical CPUs
  uint32_t chips = 0;       // physical packages
  uint32_t memory_gib = 0;
  uint32_t frequency_mhz = 0;  // to the nearest 100
  uint32_t threads_per_core = 0;
  CpuId cpuid{};
  bool is_guest = false;  // a virtual machine; its numbers say nothing about its host
  bool operator==(const MachineSpec&) const = default;
};

/// A number that describes a machine, in files and as a feature of models.
struct NumberAttribute {
  std::string_view name;
  std::string_view old_name;  // in files of the model server; empty: the same
  uint32_t MachineSpec::* value;
  double weight;  // in Similarity(); 0: not compared
};
inline constexpr NumberAttribute kNumberAttributes[] = {
    {"cores", "", &MachineSpec::cores, 1},
    {"chips", "", &MachineSpec::chips, 1},
    {"memory_gib", "memory", &MachineSpec::memory_gib, 0.5},
    {"frequency_mhz", "frequency", &MachineSpec::frequency_mhz, 0.5},
    {"threads_per_core", "", &MachineSpec::threads_per_core, 0}};

/// Returns true if the feature is the name of an attribute.
[[nodiscard]] bool IsAttribute(std::string_view feature);
/// Returns the attribute with the name of the feature; nothing for another feature and for an unknown attribute.
[[nodiscard]] std::optional<double> AttributeOf(const MachineSpec& machine, std::string_view feature);

/// Converts "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz" to "intel_xeon_e5_2686v4". There is one difference: the model
/// server cuts a name at its first bracket. This function removes only the brackets, so that "Core(TM) i7-8700" keeps
/// its model.
[[nodiscard]] std::string NormalProcessorName(std::string_view brand);

/// Converts `info` to the names and units that models use.
[[nodiscard]] MachineSpec SpecOf(const MachineInfo& info);

/// Returns the similarity from 0 to 1: the weighted mean over the known attributes of `wanted`. Weights: processor 5,
/// cores 1, chips 1, memory 0.5, frequency 0.5. Equal processors count 1, others half of their share of common letters
/// (Jaccard). Numbers count 1 − |a − b| ÷ their mean, at least 0. An unknown attribute of `other` counts 0. If `wanted`
/// knows nothing, the result is 1.
[[nodiscard]] double Similarity(const MachineSpec& wanted, const MachineSpec& other);

/// Returns true if every known attribute of `wanted` that Similarity() compares is equal in `other`, and their cpuids
/// do not differ. An unknown cpuid does not count.
[[nodiscard]] bool Covers(const MachineSpec& wanted, const MachineSpec& other);

/// Checks that `guest` can run on the processor of `other`. Compares only what a guest sees: vendor, family and model,
/// and that the processor has every instruction set of the guest. If a cpuid is unknown, the names must be equal.
/// kUnavailable with the difference.
[[nodiscard]] Status CheckProcessor(const MachineSpec& guest, const MachineSpec& other);

}  // namespace kepler::model
