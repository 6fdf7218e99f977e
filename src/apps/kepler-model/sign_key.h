#pragma once
// The key of --sign-key.
#include <string>

#include "base/result.h"
#include "model_store/private_key.h"

namespace kepler::lab::tool {

/// `path` may be a pipe, so that a key can come from another program. Errors name the path.
[[nodiscard]] Result<model_store::PrivateKey> ReadSignKey(const std::string& path);

}  // namespace kepler::lab::tool
