#pragma once
// Points in time as people write them. Pure.
#include <string_view>

#include "base/result.h"

namespace kepler {

/// Reads Unix seconds ("1700000000.5"), or a time of RFC 3339 ("2026-11-23T18:00:00Z", "2026-11-23T19:00:00.5+01:00"),
/// up to the year 9999. Returns Unix seconds; kInvalid names both forms.
[[nodiscard]] Result<double> ParseTime(std::string_view text);

}  // namespace kepler
