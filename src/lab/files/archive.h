#pragma once
// Reads and writes zip archives in memory. An archive is a flat list of a few small files, and may come from an
// attacker. Names in an archive never become paths on disk. Pure; any thread.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::lab::files {

struct Member {
  std::string name;
  std::string bytes;
  bool operator==(const Member&) const = default;
};

/// Limits of an archive's content. Bytes are counted while they are inflated; sizes that the archive states are not
/// used.
struct Limits {
  size_t members = 100;
  size_t member_bytes = size_t{64} << 20;
  size_t total_bytes = size_t{128} << 20;
};

/// Maximum size of an archive. The caller checks it when it reads the file.
inline constexpr size_t kMaxArchiveBytes = size_t{128} << 20;

/// Returns why a member cannot have this name; empty if it can.
[[nodiscard]] std::string_view WhyNoName(std::string_view name);

/// Returns the error "member 'NAME': REASON".
[[nodiscard]] std::unexpected<Error> OfMember(std::string_view name, std::string_view reason,
                                              ErrorKind kind = ErrorKind::kMalformed);
/// Returns `result`; its error becomes kMalformed and names the member.
template <class T>
[[nodiscard]] Result<T> InMember(std::string_view name, Result<T> result) {
  if (!result) return OfMember(name, result.error().message);
  return result;
}

/// Returns the member with the name, or nullptr.
[[nodiscard]] const Member* FindMember(std::span<const Member> members, std::string_view name);
/// Returns the member with the name; kNotFound if the archive does not have it.
[[nodiscard]] Result<const Member*> NeededMember(std::span<const Member> members, std::string_view name);

/// Returns true if `bytes` begin like a zip archive.
[[nodiscard]] bool LooksLikeArchive(std::string_view bytes);

/// Returns all members in the order of the archive, after a check of their CRC-32. Errors name the member:
/// - kMalformed for a path, a repeated name, a link, a device, a directory, an encrypted member, an archive inside the
///   archive, or a compression other than deflate
/// - kInvalid for more than the limits allow
[[nodiscard]] Result<std::vector<Member>> ReadArchive(std::string_view bytes, const Limits& limits = {});

/// Returns an archive with the members in their order. The result depends on nothing else: all dates are 1980-01-01,
/// and all users may read each file. The archive is read again with `limits`; kInvalid if ReadArchive() refuses it.
[[nodiscard]] Result<std::string> WriteArchive(std::span<const Member> members, const Limits& limits = {});

}  // namespace kepler::lab::files
