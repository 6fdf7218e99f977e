#pragma once
// Which zones of a machine may be added up. The names are those of the meters, without case.
#include <span>
#include <string>

#include "base/result.h"

namespace kepler::report {

/// kInvalid: their sum would count energy twice, because a zone is named twice or because one zone includes another.
[[nodiscard]] Status CheckZones(std::span<const std::string> zones);
/// Returns a note that two of the zones may overlap; "" if they are known to be disjoint.
[[nodiscard]] std::string DoubtAbout(std::span<const std::string> zones);

}  // namespace kepler::report
