#pragma once
// deploy/kepler.8: written by hand, except its options.
#include <span>
#include <string>
#include <string_view>

#include "settings/table.h"

namespace kepler::docs {

/// `page` with an OPTIONS section made from the table. Without such a section it stays as it is.
[[nodiscard]] std::string WithOptions(std::string_view page, std::span<const settings::Key> keys);

}  // namespace kepler::docs
