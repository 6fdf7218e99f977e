#pragma once
// Decompression of gzip (RFC 1952) with a limit. Pure.
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler {

/// Decompresses one gzip member of at most `max_bytes`, and checks its checksum and length. Bytes after the member are
/// ignored. Error: kMalformed.
[[nodiscard]] Result<std::string> Gunzip(std::string_view member, size_t max_bytes);

}  // namespace kepler
