#pragma once
// Which zones of a machine may be added up.
#include <span>
#include <string>

#include "base/result.h"

namespace kepler::report {

/// kInvalid: their sum would count energy twice, because a zone is named twice or because one zone includes another.
[[nodiscard]] Status CheckZones(std::span<const std::string> zones);

}  // namespace kepler::report
