#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/unique_fd.h"
#include "lab/files/archive.h"
#include "lab/files/end_record.h"
#include "lab/files/member_rules.h"

namespace kepler::lab::files {
namespace {

using Zip = std::unique_ptr<zip_t, Freer<zip_discard>>;
using OpenMember = std::unique_ptr<zip_file_t, Freer<zip_fclose>>;

constexpr std::string_view kMagic = "PK\x03\x04";
constexpr std::string_view kMagicOfEmpty = "PK\x05\x06";
constexpr std::string_view kGzip = "\x1f\x8b\x08";

std::unexpected<Error> Broken(zip_error_t& error) {
  const bool twice = zip_error_code_zip(&error) == ZIP_ER_EXISTS;
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (twice) return Fail(ErrorKind::kMalformed, "a member is there twice");
  return Fail(ErrorKind::kMalformed, fmt::format("no zip archive, or one that is cut or damaged: {}", why));
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
    if (got < 0) return OfMember(name, fmt::format("it is cut or damaged: {}", zip_file_strerror(file.get())));
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<size_t>(got));
    if (bytes.size() > most)
      return OfMember(name, fmt::format("too large: more than {} MiB are not unpacked", most >> 20),
                      ErrorKind::kInvalid);
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
    return OfMember(name, fmt::format("it has {} bytes, and {} are said", bytes.size(), stat.size));
  if (LooksLikeArchive(bytes) || bytes.starts_with(kGzip)) return OfMember(name, "an archive in an archive");
  return Member{.name = std::string(name), .bytes = std::move(bytes)};
}

}  // namespace

bool LooksLikeArchive(std::string_view bytes) { return bytes.starts_with(kMagic) || bytes.starts_with(kMagicOfEmpty); }

Result<std::vector<Member>> ReadArchive(std::string_view bytes, const Limits& limits) {
  KEPLER_CHECK_OK(CheckEnd(bytes, limits));
  KEPLER_TRY(const Zip zip, Open(bytes));
  const auto count = zip_get_num_entries(zip.get(), 0);
  if (count <= 0) return Fail(ErrorKind::kMalformed, "the archive is empty");
  if (std::cmp_greater(count, limits.members))
    return Fail(ErrorKind::kInvalid, fmt::format("{} members, where {} are read at most", count, limits.members));
  std::vector<Member> members;
  size_t left = limits.total_bytes;
  for (zip_int64_t i = 0; i < count; ++i) {
    KEPLER_TRY(Member member, ReadMember(zip.get(), static_cast<zip_uint64_t>(i), std::min(left, limits.member_bytes)));
    // Not every version of the library looks for that.
    if (std::ranges::find(members, member.name, &Member::name) != members.end())
      return OfMember(member.name, "it is there twice");
    left -= member.bytes.size();
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace kepler::lab::files
