#pragma once
// The table of the shipped model (default_model.h): idle and full-load watts per logical CPU by microarchitecture.
// Pure.
#include <string_view>

#include "base/cpu_info.h"

namespace kepler::model {

/// Watts of one logical CPU (hardware thread). They come from whole servers measured at the wall, divided by their
/// threads: memory, fans, disks and power supply are inside, so a processor package alone uses less.
struct CpuPower {
  std::string_view name;  // "AMD EPYC 3rd generation (Zen 3)"
  double idle_watts = 0;
  double full_watts = 0;
};

/// What one machine may differ from its row: servers of one generation spread by about this factor around its mean at
/// full load (fewer cores per chip mean more watts per core), and by about twice as much at idle.
inline constexpr double kStatedErrorAtFullLoad = 0.4;
inline constexpr double kStatedErrorAtIdle = 0.8;

/// The row for `cpu`, or the general average: a family or model that is not there or does not parse is no row's.
[[nodiscard]] const CpuPower& PowerOf(const CpuInfo& cpu);

/// For unknown processors.
[[nodiscard]] const CpuPower& GeneralAverage();

}  // namespace kepler::model
