#include "export/push/queue_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::push {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

std::string ErrorOf(std::string_view begin) {
  const auto header = ParseHeader(begin);
  if (header) return "(no error)";
  EXPECT_EQ(header.error().kind, ErrorKind::kMalformed);
  return header.error().message;
}

/// With the right checksum, so that only the replaced bytes can be wrong.
std::string Patched(std::string header, size_t at, std::string_view bytes) {
  header.replace(at, bytes.size(), bytes);
  header.resize(header.size() - 4);
  const uint32_t crc = Crc32(header);
  for (int shift = 0; shift < 32; shift += 8) header += static_cast<char>(crc >> shift & 0xff);
  return header;
}

const FileHeader kHeader{.points = 0x0102030405060708, .body_size = 70'000, .body_crc = 0xfedcba98, .encoding = "otlp"};

TEST(QueueFileTest, AHeader_IsReadBack_AlsoWithABodyBehindIt) {
  const std::string written = WriteHeader(kHeader);
  EXPECT_EQ(written.size(), kHeader.size());
  for (const std::string& text : {written, written + "body"}) {
    const auto read = ParseHeader(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->points, kHeader.points);
    EXPECT_EQ(read->body_size, 70'000U);
    EXPECT_EQ(read->body_crc, 0xfedcba98U);
    EXPECT_EQ(read->encoding, "otlp");
  }
  EXPECT_TRUE(ParseHeader(WriteHeader({.encoding = std::string(kMaxEncodingName, 'e')})));
}

TEST(QueueFileTest, TheFormIsFixed) {
  using namespace std::string_literals;
  EXPECT_EQ(WriteHeader({.points = 2, .body_size = 3, .body_crc = Crc32("abc"), .encoding = "x"}),
            "keplerQ\n\1\0\0\0\xc2\x41\x24\x35\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0x\xc2\x0b\x89\xb7"s);
}

TEST(QueueFileTest, MissingAndCutHeaders_AreMalformed) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not a queued request"));
  const std::string written = WriteHeader(kHeader);
  for (size_t size = 1; size < written.size(); ++size)
    EXPECT_NE(ErrorOf(written.substr(0, size)), "(no error)") << size;
  EXPECT_THAT(ErrorOf(written.substr(0, 20)), HasSubstr("cut"));
  EXPECT_THAT(ErrorOf(written.substr(0, written.size() - 1)), HasSubstr("cut"));
}

TEST(QueueFileTest, EveryChangedByte_IsMalformed) {
  for (size_t at = 0; at < kHeader.size(); ++at) {
    std::string damaged = WriteHeader(kHeader);
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_NE(ErrorOf(damaged), "(no error)") << at;
  }
}

TEST(QueueFileTest, OtherVersionsAndSizes_AreMalformed) {
  const std::string written = WriteHeader(kHeader);
  EXPECT_EQ(ErrorOf(Patched(written, 8, "\1")), "(no error)");
  EXPECT_THAT(ErrorOf(Patched(written, 8, "\2")), HasSubstr("version 2 is unknown"));
  EXPECT_THAT(ErrorOf(Patched(written, 32, "\x41")), HasSubstr("too long"));
  EXPECT_THAT(ErrorOf(Patched(written, 32, "\xff\xff\xff\xff")), HasSubstr("too long"));
  EXPECT_THAT(ErrorOf(Patched(written, 32, "\5")), HasSubstr("cut"));
}

TEST(QueueFileTest, Names_SortByNumber) {
  EXPECT_EQ(FileName(42), "000000000000000042.request");
  EXPECT_THAT(FileNumber(FileName(42)), Optional(42U));
  EXPECT_THAT(FileNumber(FileName(kMaxFileNumber)), Optional(kMaxFileNumber));
  for (const char* name : {"", "lock", "42.request", "000000000000000042.request.tmp", "00000000000000004x.request",
                           "-00000000000000042.request", "0000000000000000042.request", "000000000000000042.requesT"})
    EXPECT_EQ(FileNumber(name), std::nullopt) << name;
}

}  // namespace
}  // namespace kepler::push
