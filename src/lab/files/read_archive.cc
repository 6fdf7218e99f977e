#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/text.h"
#include "base/unique_fd.h"
#include "lab/files/archive.h"

namespace kepler::lab::files {
namespace {

using Zip = std::unique_ptr<zip_t, Freer<zip_discard>>;
using OpenMember = std::unique_ptr<zip_file_t, Freer<zip_fclose>>;

constexpr std::string_view kMagic = "PK\x03\x04";
constexpr std::string_view kMagicOfEmpty = "PK\x05\x06";
constexpr std::string_view kGzip = "\x1f\x8b\x08";
constexpr size_t kMaxNameBytes = 255;
// Types of files in the modes that archives made on Unix have (inode(7)).
constexpr uint32_t kTypeMask = 0170000;
constexpr uint32_t kRegularFile = 0100000;
constexpr uint32_t kLink = 0120000;
constexpr uint32_t kDirectory = 0040000;

/// Whether a part of the path is "..", whichever way it is written.
bool LeadsUp(std::string_view name) {
  while (true) {
    const size_t end = name.find_first_of("/\\");
    if (name.substr(0, end) == "..") return true;
    if (end == std::string_view::npos) return false;
    name.remove_prefix(end + 1);
  }
}

bool HasDrive(std::string_view name) { return name.size() > 1 && name[1] == ':'; }

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
    return Fail(ErrorKind::kInvalid, fmt::format("{} members; the maximum is {}", members, limits.members));
  const size_t size = NumberAt(end, 12, 4);
  if (size > limits.members * kMaxEntryBytes)
    return Fail(ErrorKind::kInvalid,
                fmt::format("its directory has {} bytes; the maximum is {}", size, limits.members * kMaxEntryBytes));
  return {};
}

/// Called before the library reads the directory, all of it into memory: a small archive can list millions of members.
/// kMalformed if there is no end record. kInvalid if one (a comment may look like another) exceeds the limits or is of
/// ZIP64, which nothing within them needs. Source: APPNOTE.TXT 4.3.15 and 4.3.16 (PKWARE).
Status CheckEnd(std::string_view bytes, const Limits& limits) {
  const size_t searched = std::min(bytes.size(), kEndBytes + kMaxCommentBytes);
  bool found = false;
  for (size_t at = bytes.find(kEndMagic, bytes.size() - searched); at != std::string_view::npos;
       at = bytes.find(kEndMagic, at + 1)) {
    const std::string_view end = bytes.substr(at);
    if (end.size() < kEndBytes || kEndBytes + NumberAt(end, 20, 2) != end.size()) continue;
    found = true;
    if (at >= kLocatorBytes && bytes.substr(at - kLocatorBytes).starts_with(kLocatorMagic))
      return Fail(ErrorKind::kInvalid, "ZIP64 archives are not supported");
    KEPLER_CHECK_OK(CheckCounts(end, limits));
  }
  if (!found) return Fail(ErrorKind::kMalformed, "not a zip archive, or truncated or damaged: it has no end record");
  return {};
}

std::unexpected<Error> Broken(zip_error_t& error) {
  const bool twice = zip_error_code_zip(&error) == ZIP_ER_EXISTS;
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (twice) return Fail(ErrorKind::kMalformed, "a member appears twice");
  return Fail(ErrorKind::kMalformed, fmt::format("not a zip archive, or truncated or damaged: {}", why));
}

/// `bytes` must outlive it.
Result<Zip> Open(std::string_view bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) return Broken(error);
  // ZIP_CHECKCONS: where the directory and the members' own heads differ, readers see different files.
  Zip zip(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error));
  if (zip == nullptr) {
    zip_source_free(source);
    return Broken(error);
  }
  return zip;
}

/// Why it is no plain file, or "".
std::string_view WhyNoFile(zip_t* zip, const zip_stat_t& stat) {
  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  if (zip_file_get_external_attributes(zip, stat.index, 0, &system, &attributes) != 0) return "it has no attributes";
  const uint32_t type = (attributes >> 16) & kTypeMask;
  if (type == kLink) return "a link";
  if (type == kDirectory) return "a directory";
  if (type != 0 && type != kRegularFile) return "a device, pipe or socket";
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE) return "it is encrypted";
  if ((stat.valid & ZIP_STAT_COMP_METHOD) == 0 ||
      (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE))
    return "its compression is not deflate";
  return "";
}

/// At most `most` bytes.
Result<std::string> Inflate(zip_t* zip, const zip_stat_t& stat, size_t most) {
  const std::string_view name = stat.name;
  const OpenMember file(zip_fopen_index(zip, stat.index, 0));
  if (file == nullptr) return OfMember(name, zip_strerror(zip));
  std::string bytes;
  std::array<char, size_t{1} << 16> piece;
  while (true) {
    const zip_int64_t got = zip_fread(file.get(), piece.data(), piece.size());
    if (got < 0) return OfMember(name, fmt::format("it is truncated or damaged: {}", zip_file_strerror(file.get())));
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<size_t>(got));
    if (bytes.size() > most)
      return OfMember(name, fmt::format("too large: the maximum is {} MiB unpacked", most >> 20), ErrorKind::kInvalid);
  }
}

Result<Member> ReadMember(zip_t* zip, zip_uint64_t index, size_t most) {
  zip_stat_t stat;
  if (zip_stat_index(zip, index, ZIP_FL_ENC_RAW, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0)
    return Fail(ErrorKind::kMalformed, fmt::format("member {}: {}", index, zip_strerror(zip)));
  const std::string_view name = stat.name;
  if (const auto reason = WhyNoName(name); !reason.empty()) return OfMember(name, reason);
  if (const auto reason = WhyNoFile(zip, stat); !reason.empty()) return OfMember(name, reason);
  KEPLER_TRY(std::string bytes, Inflate(zip, stat, most));
  if ((stat.valid & ZIP_STAT_SIZE) != 0 && stat.size != bytes.size())
    return OfMember(name, fmt::format("it has {} bytes, but its header has {}", bytes.size(), stat.size));
  if (LooksLikeArchive(bytes) || bytes.starts_with(kGzip)) return OfMember(name, "an archive in an archive");
  return Member{.name = std::string(name), .bytes = std::move(bytes)};
}

}  // namespace

std::string_view WhyNoName(std::string_view name) {
  if (name.empty()) return "it has no name";
  if (name.size() > kMaxNameBytes) return "its name is longer than 255 bytes";
  if (!IsValidUtf8(name)) return "its name is not UTF-8";
  if (EscapeControls(name) != name) return "its name has control characters";
  if (name.starts_with('/') || name.starts_with('\\') || HasDrive(name)) return "an absolute path";
  if (LeadsUp(name) || name == ".") return "a path that leaves the archive";
  if (name.contains('\\')) return "a backslash in its name";
  if (name.contains('/'))
    return "it is in a directory, but the archive of a model is flat; use the archive of one model instead of a "
           "pipeline";
  return "";
}

std::unexpected<Error> OfMember(std::string_view name, std::string_view reason, ErrorKind kind) {
  return Fail(kind, fmt::format("member '{}': {}", EscapeControls(name.substr(0, 80)), reason));
}

const Member* FindMember(std::span<const Member> members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &Member::name);
  return found == members.end() ? nullptr : &*found;
}

Result<const Member*> NeededMember(std::span<const Member> members, std::string_view name) {
  if (const Member* const member = FindMember(members, name)) return member;
  return OfMember(name, "it is missing; the archive is incomplete", ErrorKind::kNotFound);
}

bool LooksLikeArchive(std::string_view bytes) { return bytes.starts_with(kMagic) || bytes.starts_with(kMagicOfEmpty); }

Result<std::vector<Member>> ReadArchive(std::string_view bytes, const Limits& limits) {
  KEPLER_CHECK_OK(CheckEnd(bytes, limits));
  KEPLER_TRY(const Zip zip, Open(bytes));
  const auto count = zip_get_num_entries(zip.get(), 0);
  if (count <= 0) return Fail(ErrorKind::kMalformed, "the archive is empty");
  if (std::cmp_greater(count, limits.members))
    return Fail(ErrorKind::kInvalid, fmt::format("{} members; the maximum is {}", count, limits.members));
  std::vector<Member> members;
  size_t left = limits.total_bytes;
  for (zip_int64_t i = 0; i < count; ++i) {
    KEPLER_TRY(Member member, ReadMember(zip.get(), static_cast<zip_uint64_t>(i), std::min(left, limits.member_bytes)));
    // Not every version of the library looks for that.
    if (FindMember(members, member.name) != nullptr) return OfMember(member.name, "it appears twice");
    left -= member.bytes.size();
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace kepler::lab::files
