#pragma once
// What a file is recognised by. Pure.
#include <string>
#include <string_view>

namespace kepler::model {

/// 64 hexadecimal digits, lower case.
[[nodiscard]] std::string Sha256(std::string_view bytes);

}  // namespace kepler::model
