#pragma once
// The key of --sign-key.
#include <cstdint>
#include <string>

#include "base/result.h"
#include "model_store/private_key.h"

namespace kepler::lab::tool {

/// `path` may be a pipe, so that a key can come from another program. Errors name the path.
[[nodiscard]] Result<model_store::PrivateKey> ReadSignKey(const std::string& path);

/// Notes that agents with a public key refuse a version that was published without a signature.
void NoteUnsigned(uint32_t version);

}  // namespace kepler::lab::tool
