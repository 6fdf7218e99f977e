#include "export/push/queue_file.h"

#include <fmt/format.h>

#include <concepts>

#include <isa-l/crc.h>

#include "base/avx.h"
#include "base/parse.h"

namespace kepler::push {
namespace {

constexpr std::string_view kMagic = "keplerQ\n";
constexpr std::string_view kSuffix = ".request";
constexpr size_t kDigits = 18;
constexpr uint32_t kVersion = 1;
constexpr size_t kFixedSize = 36;  // of the header before its text

void Append(std::string& to, std::unsigned_integral auto number) {
  for (size_t i = 0; i < sizeof(number); ++i) to += static_cast<char>(number >> (8 * i) & 0xff);
}

template <std::unsigned_integral Number>
Number Read(std::string_view from, size_t at) {
  Number number = 0;
  for (size_t i = 0; i < sizeof(Number); ++i)
    number |= static_cast<Number>(static_cast<unsigned char>(from[at + i])) << (8 * i);
  return number;
}

}  // namespace

uint32_t Crc32(std::string_view bytes) {
  return ClearAvxAfter(crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::string WriteHeader(const FileHeader& header) {
  std::string out(kMagic);
  Append(out, kVersion);
  Append(out, header.body_crc);
  Append(out, header.points);
  Append(out, header.body_size);
  Append(out, static_cast<uint32_t>(header.encoding.size()));
  out += header.encoding;
  Append(out, Crc32(out));
  return out;
}

Result<FileHeader> ParseHeader(std::string_view begin) {
  if (!begin.starts_with(kMagic)) return Fail(ErrorKind::kMalformed, "not a queued request");
  if (begin.size() < kFixedSize) return Fail(ErrorKind::kMalformed, "the header is cut");
  if (const auto version = Read<uint32_t>(begin, 8); version != kVersion)
    return Fail(ErrorKind::kMalformed, fmt::format("version {} is unknown", version));
  const auto encoding_size = Read<uint32_t>(begin, 32);
  if (encoding_size > kMaxEncodingName) return Fail(ErrorKind::kMalformed, "the name of the encoding is too long");
  const size_t end = kFixedSize + encoding_size;
  if (begin.size() < end + sizeof(uint32_t)) return Fail(ErrorKind::kMalformed, "the header is cut");
  if (Read<uint32_t>(begin, end) != Crc32(begin.substr(0, end)))
    return Fail(ErrorKind::kMalformed, "the checksum of the header is wrong");
  return FileHeader{.points = Read<uint64_t>(begin, 16),
                    .body_size = Read<uint64_t>(begin, 24),
                    .body_crc = Read<uint32_t>(begin, 12),
                    .encoding = std::string(begin.substr(kFixedSize, encoding_size))};
}

std::string FileName(uint64_t number) { return fmt::format("{:0{}}{}", number, kDigits, kSuffix); }

std::optional<uint64_t> FileNumber(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  return ParseNumber<uint64_t>(name.substr(0, kDigits));
}

}  // namespace kepler::push
