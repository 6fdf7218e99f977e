#include "http/grpc/framing.h"

#include <fmt/format.h>

#include "base/gunzip.h"
#include "base/text.h"

namespace kepler::http::grpc {

std::array<char, kPrefixBytes> PrefixOf(uint32_t size, bool is_compressed) {
  return {static_cast<char>(is_compressed), static_cast<char>(size >> 24), static_cast<char>(size >> 16),
          static_cast<char>(size >> 8), static_cast<char>(size)};
}

Result<std::string> ReadOnlyMessage(std::string_view body, std::string_view encoding, size_t max_bytes) {
  const auto malformed = [](std::string why) {
    return Fail(ErrorKind::kMalformed, "read the message of the answer: " + std::move(why));
  };
  if (body.size() < kPrefixBytes) return malformed(fmt::format("it has {} bytes instead of a prefix", body.size()));
  uint32_t size = 0;
  for (const char byte : body.substr(1, 4)) size = size << 8 | static_cast<uint8_t>(byte);
  const std::string_view message = body.substr(kPrefixBytes);
  if (message.size() != size)
    return malformed(fmt::format("it has {} bytes instead of the {} in its prefix", message.size(), size));
  if (body[0] == 0) {
    if (message.size() > max_bytes) return malformed(fmt::format("it has more than {} bytes", max_bytes));
    return std::string(message);
  }
  if (body[0] != 1) return malformed("the first byte is neither 0 nor 1");
  if (encoding != "gzip") return malformed(fmt::format("unknown compression \"{}\"", SanitizeUtf8(encoding, 40)));
  return Gunzip(message, max_bytes);
}

}  // namespace kepler::http::grpc
