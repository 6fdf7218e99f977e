#include "lab/files/end_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace kepler::lab::files {
namespace {

constexpr std::string_view kEndMagic = "PK\x05\x06";
constexpr std::string_view kLocatorMagic = "PK\x06\x07";  // of the end record of ZIP64
constexpr size_t kEndBytes = 22;
constexpr size_t kLocatorBytes = 20;  // stands right before the end
constexpr size_t kMaxCommentBytes = 65'535;
/// With name, extra fields and comment; an entry without them has 46.
constexpr size_t kMaxEntryBytes = 1024;

/// Little endian.
uint32_t NumberAt(std::string_view bytes, size_t offset, size_t size) {
  uint32_t number = 0;
  for (size_t i = size; i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[offset + i]);
  return number;
}

/// Of one end record, `end` and all behind it.
Status CheckCounts(std::string_view end, const Limits& limits) {
  const uint32_t members = std::max(NumberAt(end, 8, 2), NumberAt(end, 10, 2));
  if (members > limits.members)
    return Fail(ErrorKind::kInvalid, fmt::format("{} members, where {} are read at most", members, limits.members));
  const size_t size = NumberAt(end, 12, 4);
  if (size > limits.members * kMaxEntryBytes)
    return Fail(ErrorKind::kInvalid, fmt::format("its directory has {} bytes, where {} are read at most", size,
                                                 limits.members * kMaxEntryBytes));
  return {};
}

}  // namespace

Status CheckEnd(std::string_view bytes, const Limits& limits) {
  const size_t searched = std::min(bytes.size(), kEndBytes + kMaxCommentBytes);
  bool found = false;
  for (size_t at = bytes.find(kEndMagic, bytes.size() - searched); at != std::string_view::npos;
       at = bytes.find(kEndMagic, at + 1)) {
    const std::string_view end = bytes.substr(at);
    if (end.size() < kEndBytes || kEndBytes + NumberAt(end, 20, 2) != end.size()) continue;
    found = true;
    if (at >= kLocatorBytes && bytes.substr(at - kLocatorBytes).starts_with(kLocatorMagic))
      return Fail(ErrorKind::kInvalid, "it has the form of huge archives (ZIP64), which is not read");
    KEPLER_CHECK_OK(CheckCounts(end, limits));
  }
  if (!found) return Fail(ErrorKind::kMalformed, "no zip archive, or one that is cut or damaged: it has no end");
  return {};
}

}  // namespace kepler::lab::files
