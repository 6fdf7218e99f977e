#pragma once
// The table of the built-in model (default_model.h): idle and full-load watts per logical CPU, by microarchitecture.
// Pure.
#include <string_view>

#include "base/cpu_info.h"

namespace kepler::model {

/// Watts of one logical CPU (hardware thread). The values are wall power of whole servers divided by the number of
/// threads. They include memory, fans, disks and power supply, so a processor package alone uses less.
struct CpuPower {
  std::string_view name;  // "AMD EPYC 3rd generation (Zen 3)"
  double idle_watts = 0;
  double full_watts = 0;
};

/// Relative error of one machine against its row. Servers of one generation differ by about this factor from their mean
/// at full load (fewer cores per chip mean more watts per core). At idle the error is about twice as large.
inline constexpr double kStatedErrorAtFullLoad = 0.4;
inline constexpr double kStatedErrorAtIdle = 0.8;

/// Returns the row for `cpu`. Returns the general average if the family or model is unknown or does not parse.
[[nodiscard]] const CpuPower& PowerOf(const CpuInfo& cpu);

/// Row for unknown processors.
[[nodiscard]] const CpuPower& GeneralAverage();

}  // namespace kepler::model
