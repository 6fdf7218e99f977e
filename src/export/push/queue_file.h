#pragma once
// The file of one request that waits in a directory: a header, then the body as it is sent. Pure. Numbers are
// little-endian:
//
//   8 bytes   "keplerQ\n"
//   4 bytes   version of this form: 1
//   4 bytes   CRC-32 of the body
//   8 bytes   data points
//   8 bytes   size of the body
//   4 bytes   size of the text that follows, at most 64
//   text      encoding of the body, such as "otlp gzip"
//   4 bytes   CRC-32 of everything before
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::push {

inline constexpr size_t kMaxEncodingName = 64;
inline constexpr size_t kMaxFileHeader = 40 + kMaxEncodingName;

struct FileHeader {
  uint64_t points = 0;
  uint64_t body_size = 0;
  uint32_t body_crc = 0;
  std::string encoding{};  // at most kMaxEncodingName bytes

  /// Size in the file.
  [[nodiscard]] size_t size() const { return 40 + encoding.size(); }
};

[[nodiscard]] uint32_t Crc32(std::string_view bytes);
[[nodiscard]] std::string WriteHeader(const FileHeader& header);
/// `begin`: the first kMaxFileHeader bytes of a file, or all of a shorter one. Errors: kMalformed.
[[nodiscard]] Result<FileHeader> ParseHeader(std::string_view begin);

/// Name of the file of request `number`: 18 digits and ".request".
inline constexpr uint64_t kMaxFileNumber = 999'999'999'999'999'999;
/// Counting from 1 never comes so far. A file with a larger number has a name that no queue gave it.
inline constexpr uint64_t kMaxCountedNumber = kMaxFileNumber / 2;
[[nodiscard]] std::string FileName(uint64_t number);
/// Nothing: not a name of FileName().
[[nodiscard]] std::optional<uint64_t> FileNumber(std::string_view name);

}  // namespace kepler::push
