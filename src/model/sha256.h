#pragma once
// SHA-256 checksum of a file. Pure.
#include <string>
#include <string_view>

namespace kepler::model {

/// Returns 64 hexadecimal digits, lower case.
[[nodiscard]] std::string Sha256(std::string_view bytes);

}  // namespace kepler::model
