#pragma once
// The framing of gRPC messages: a flag for compression, the length in four bytes (big endian), the message. Source:
// gRPC's PROTOCOL-HTTP2.md, "Length-Prefixed-Message". Pure.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::http::grpc {

inline constexpr size_t kPrefixBytes = 5;

/// The bytes before a message of `size` bytes, as it is sent.
[[nodiscard]] std::array<char, kPrefixBytes> PrefixOf(uint32_t size, bool is_compressed);

/// Returns the only message in the body of an answer. `encoding`: its grpc-encoding; gzip is decompressed. Errors:
/// kMalformed if the body is not exactly one message, has another encoding, or has more than `max_bytes`.
[[nodiscard]] Result<std::string> ReadOnlyMessage(std::string_view body, std::string_view encoding, size_t max_bytes);

}  // namespace kepler::http::grpc
