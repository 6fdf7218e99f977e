#pragma once
// Files with a password or a token.
#include <string>

#include "base/result.h"

namespace kepler::lab::files {

/// The one line of `path`, which may be a pipe, as it is but for the end of the line. kInvalid where there is none or
/// more than one; else as ReadBounded(). Errors name the path and nothing of the text.
[[nodiscard]] Result<std::string> ReadSecret(const std::string& path);

}  // namespace kepler::lab::files
