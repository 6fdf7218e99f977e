#pragma once
// deploy/kepler.8: written by hand, but for its options.
#include <string>
#include <string_view>

namespace kepler::config {

/// `page` with an OPTIONS section made from the table of flags. Without such a section it stays as it is.
[[nodiscard]] std::string WithOptions(std::string_view page);

}  // namespace kepler::config
