#pragma once
// The YAML file onto a draft: types are checked here, values in validate.h.
#include <string>

#include "base/result.h"
#include "config/draft.h"

namespace kepler::config {

/// The bytes of a configuration file. Errors: as FailErrno; kInvalid for a pipe, which would wait for its writer, and
/// for more than 1 MiB.
[[nodiscard]] Result<std::string> ReadConfigFile(const std::string& path);

/// Puts what `text` says over the draft's values. Null keeps a single value and empties a list. What is wrong goes to
/// the draft's errors, keys that nobody knows to its unknown.
void LoadYaml(Draft& draft, const std::string& text);

}  // namespace kepler::config
