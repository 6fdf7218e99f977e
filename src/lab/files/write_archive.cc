#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>

#include "base/unique_fd.h"
#include "lab/files/archive.h"

namespace kepler::lab::files {
namespace {

using NewZip = std::unique_ptr<zip_t, Freer<zip_discard>>;
using Source = std::unique_ptr<zip_source_t, Freer<zip_source_free>>;

constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01, as MS-DOS counts
constexpr zip_uint32_t kBestCompression = 9;
constexpr zip_uint32_t kMode = 0100644U << 16;  // a regular file

std::unexpected<Error> CannotWrite(std::string_view why) {
  return Fail(ErrorKind::kIo, fmt::format("make an archive: {}", why));
}

Status Add(zip_t* zip, const Member& member) {
  zip_source_t* const source = zip_source_buffer(zip, member.bytes.data(), member.bytes.size(), 0);
  if (source == nullptr) return CannotWrite(zip_strerror(zip));
  const zip_int64_t index = zip_file_add(zip, member.name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return CannotWrite(zip_strerror(zip));
  }
  const auto added = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(zip, added, ZIP_CM_DEFLATE, kBestCompression) != 0 ||
      zip_file_set_dostime(zip, added, 0, kFirstDay, 0) != 0 ||
      zip_file_set_external_attributes(zip, added, 0, ZIP_OPSYS_UNIX, kMode) != 0)
    return CannotWrite(zip_strerror(zip));
  return {};
}

Result<std::string> BytesOf(zip_source_t* source) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_open(source) != 0 || zip_source_stat(source, &stat) != 0)
    return CannotWrite(zip_error_strerror(zip_source_error(source)));
  std::string bytes(stat.size, '\0');
  const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (got < 0 || static_cast<size_t>(got) != bytes.size())
    return CannotWrite(zip_error_strerror(zip_source_error(source)));
  return bytes;
}

/// Before: names are texts with an end to the library.
Status CheckNames(std::span<const Member> members) {
  if (members.empty()) return Fail(ErrorKind::kInvalid, "the archive is empty");
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string& name = members[i].name;
    if (const auto reason = WhyNoName(name); !reason.empty()) return OfMember(name, reason, ErrorKind::kInvalid);
    if (FindMember(members.first(i), name) != nullptr) return OfMember(name, "it appears twice", ErrorKind::kInvalid);
  }
  return {};
}

/// By reading it, so that no rule of the reader can be forgotten here.
Status CheckReadable(std::string_view bytes, std::span<const Member> members, const Limits& limits) {
  if (bytes.size() > kMaxArchiveBytes)
    return Fail(ErrorKind::kInvalid, fmt::format("the archive has {} MiB; the maximum is {}", (bytes.size() >> 20) + 1,
                                                 kMaxArchiveBytes >> 20));
  const auto read = ReadArchive(bytes, limits);
  if (!read) return Fail(ErrorKind::kInvalid, read.error().message);
  if (!std::ranges::equal(*read, members)) return CannotWrite("reading it back gives another content");
  return {};
}

Result<std::string> Pack(std::span<const Member> members) {
  zip_error_t error;
  zip_error_init(&error);
  const Source source(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (source == nullptr) return CannotWrite(zip_error_strerror(&error));
  NewZip zip(zip_open_from_source(source.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (zip == nullptr) return CannotWrite(zip_error_strerror(&error));
  zip_source_keep(source.get());  // closing frees what was opened
  for (const Member& member : members) KEPLER_CHECK_OK(Add(zip.get(), member));
  if (zip_close(zip.get()) != 0) return CannotWrite(zip_strerror(zip.get()));
  static_cast<void>(zip.release());
  return BytesOf(source.get());
}

}  // namespace

Result<std::string> WriteArchive(std::span<const Member> members, const Limits& limits) {
  KEPLER_CHECK_OK(CheckNames(members));
  KEPLER_TRY(std::string bytes, Pack(members));
  KEPLER_CHECK_OK(CheckReadable(bytes, members, limits));
  return bytes;
}

}  // namespace kepler::lab::files
