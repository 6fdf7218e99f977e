#pragma once
// Zip archives in memory: a flat list of files, small and few, from anybody. Nothing is written to disk under a name
// that an archive chose. Pure; any thread.
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

/// Counted while inflating, whatever the archive says of its sizes.
struct Limits {
  size_t members = 100;
  size_t member_bytes = size_t{64} << 20;
  size_t total_bytes = size_t{128} << 20;
};

/// Of the archive itself: the caller bounds what it reads.
inline constexpr size_t kMaxArchiveBytes = size_t{128} << 20;

/// Why a member cannot have this name; empty if it can.
[[nodiscard]] std::string_view WhyNoName(std::string_view name);

/// An error about a member: "member 'x': reason".
[[nodiscard]] std::unexpected<Error> OfMember(std::string_view name, std::string_view reason,
                                              ErrorKind kind = ErrorKind::kMalformed);
/// `result`, its error with the member, as kMalformed.
template <class T>
[[nodiscard]] Result<T> InMember(std::string_view name, Result<T> result) {
  if (!result) return OfMember(name, result.error().message);
  return result;
}

/// The member of that name, or nullptr.
[[nodiscard]] const Member* FindMember(std::span<const Member> members, std::string_view name);
/// The same for a member without which the archive is incomplete: kNotFound.
[[nodiscard]] Result<const Member*> NeededMember(std::span<const Member> members, std::string_view name);

/// Whether `bytes` begin as a zip archive does.
[[nodiscard]] bool LooksLikeArchive(std::string_view bytes);

/// All members, in the order of the archive, whose checksums (CRC-32) hold. kMalformed, naming the member, for all that
/// is no plain file of a flat archive: paths, names that stand twice, links, devices, directories, encrypted ones,
/// archives in it, and compression other than deflate; kInvalid for what is over the limits.
[[nodiscard]] Result<std::vector<Member>> ReadArchive(std::string_view bytes, const Limits& limits = {});

/// The same members give the same bytes: all are dated 1980-01-01, readable by everybody, and stand in their order.
/// What ReadArchive() would refuse with these limits is kInvalid: what is written was read once.
[[nodiscard]] Result<std::string> WriteArchive(std::span<const Member> members, const Limits& limits = {});

}  // namespace kepler::lab::files
