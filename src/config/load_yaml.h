#pragma once
// The YAML file onto a draft: types are checked here, values in validate.h.
#include <string>

#include "config/draft.h"

namespace kepler::config {

/// Puts what `text` says over the draft's values. Null keeps a single value and empties a list. What is wrong goes to
/// the draft's errors, keys that nobody knows to its unknown.
void LoadYaml(Draft& draft, const std::string& text);

}  // namespace kepler::config
