#include "lab/files/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kepler::lab::files {
namespace {

using ::testing::HasSubstr;

std::string Good() {
  const auto made = WriteArchive(std::vector<Member>{{"aaaaaaa", "first"}, {"bbbbbbb", std::string(1000, 'x')}});
  return made ? *made : std::string();
}

/// Everywhere, which must be at least once.
std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  size_t count = 0;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()), ++count)
    text.replace(at, from.size(), to);
  EXPECT_GT(count, 0u);
  return text;
}

void ExpectRefused(std::string_view bytes, std::string_view reason, ErrorKind kind = ErrorKind::kMalformed,
                   const Limits& limits = {}) {
  const auto read = ReadArchive(bytes, limits);
  ASSERT_FALSE(read) << reason;
  EXPECT_THAT(read.error().message, HasSubstr(std::string(reason)));
  EXPECT_EQ(read.error().kind, kind);
}

TEST(Archive, WhatWasWritten_ComesBackInItsOrder) {
  const std::vector<Member> members = {{"model.json", "{}"}, {"card.md", ""}, {"a b.ü", std::string("\0\xff", 2)}};
  const auto bytes = WriteArchive(members);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_TRUE(LooksLikeArchive(*bytes));
  EXPECT_TRUE(ReadArchive(*bytes) == members);
  EXPECT_TRUE(WriteArchive(members) == *bytes);
}

RC_GTEST_PROP(Archive, AnyBytes_ComeBack, (const std::vector<std::string>& all)) {
  std::vector<Member> members;
  for (const std::string& bytes : all)
    if (members.size() < Limits().members && !LooksLikeArchive(bytes) && !bytes.starts_with("\x1f\x8b"))
      members.push_back({std::to_string(members.size()), bytes});
  if (members.empty()) return;
  const auto bytes = WriteArchive(members);
  RC_ASSERT(bytes.has_value());
  const auto read = ReadArchive(*bytes);
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == members);
}

TEST(Archive, CutAnywhere_IsRefused) {
  const std::string good = Good();
  ASSERT_TRUE(ReadArchive(good));
  for (size_t size = 0; size < good.size(); ++size) {
    const auto read = ReadArchive(std::string_view(good).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().kind, ErrorKind::kMalformed) << read.error().message;
  }
}

TEST(Archive, WhatIsNone_IsRefused) {
  for (const std::string& text : {std::string("{}"), std::string(1000, '\0'), std::string("PK\x03\x04 and no more")})
    ExpectRefused(text, "not a zip archive, or truncated or damaged");
}

TEST(Archive, DamagedContent_IsRefused) {
  std::string bytes = Good();
  char& within = bytes[bytes.find("aaaaaaa") + 9];
  within = static_cast<char>(within ^ 1);
  ExpectRefused(bytes, "member 'aaaaaaa': it is truncated or damaged");
}

TEST(Archive, NamesThatLeadElsewhere_AreRefused) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"../evil", "member '../evil': a path that leaves the archive"},
      {"a/../bb", "a path that leaves the archive"},
      {"..\\evil", "a path that leaves the archive"},
      {"/etc/pw", "an absolute path"},
      {R"(\\h\s\f)", "an absolute path"},
      {"C:\\evil", "an absolute path"},
      {"ev\\il.x", "a backslash"},
      {"dir/fil", "it is in a directory"},
      {"folder/", "it is in a directory"},
      {"e\x1b[31mx", "control characters"},
      {"\xff\xfe five", "not UTF-8"},
      {"bbbbbbb", "appears twice"},
  };
  for (const auto& [name, reason] : names) ExpectRefused(Replaced(Good(), "aaaaaaa", std::string(name)), reason);
}

/// The mode of a regular file, as it stands in the directory of the archive, replaced by another type.
std::string WithMode(uint8_t high) {
  return Replaced(Good(), std::string_view("\0\0\xa4\x81", 4), std::string("\0\0\xff", 3) + static_cast<char>(high));
}

TEST(Archive, WhatIsNoFile_IsRefused) {
  ExpectRefused(WithMode(0xa1), "a link");
  ExpectRefused(WithMode(0x41), "a directory");
  ExpectRefused(WithMode(0x21), "a device, pipe or socket");
  ExpectRefused(WithMode(0x61), "a device, pipe or socket");
  ExpectRefused(WithMode(0xc1), "a device, pipe or socket");
}

/// With a field of the head of each member, which is there and in the directory, set to `value`.
std::string WithHeads(size_t offset, char value) {
  std::string bytes = Good();
  for (const auto& [magic, skipped] : {std::pair{"PK\x03\x04", size_t{4}}, std::pair{"PK\x01\x02", size_t{6}}})
    for (size_t at = bytes.find(magic); at != std::string::npos; at = bytes.find(magic, at + 4))
      bytes[at + skipped + offset] = value;
  return bytes;
}

TEST(Archive, EncryptedOrUnknownCompression_IsRefused) {
  ExpectRefused(WithHeads(2, 1), "it is encrypted");
  ExpectRefused(WithHeads(4, 12), "its compression is not deflate");
}

TEST(Archive, HeadsThatDisagree_AreRefused) {
  const std::string good = Good();
  std::string bytes = good;
  bytes.replace(bytes.find("aaaaaaa"), 7, "ccccccc");  // in the member's own head, not in the directory
  EXPECT_FALSE(ReadArchive(bytes));
}

TEST(Archive, MoreThanTheLimits_IsRefused) {
  const std::string good = Good();
  EXPECT_TRUE(ReadArchive(good, {.members = 2, .member_bytes = 1000, .total_bytes = 1005}));
  ExpectRefused(good, "2 members; the maximum is 1", ErrorKind::kInvalid, {.members = 1});
  ExpectRefused(good, "member 'bbbbbbb': too large", ErrorKind::kInvalid, {.member_bytes = 999});
  ExpectRefused(good, "member 'bbbbbbb': too large", ErrorKind::kInvalid, {.total_bytes = 1004});
}

/// With bytes of its end record, which has no comment, replaced.
std::string WithEnd(size_t offset, std::string_view bytes) {
  std::string archive = Good();
  return archive.replace(archive.size() - 22 + offset, bytes.size(), bytes);
}

// The library, which keeps every entry that it reads, is not asked: it would find that they are not there.
TEST(Archive, EndThatAnnouncesTooMuch_IsRefusedBeforeTheDirectoryIsRead) {
  ExpectRefused(WithEnd(8, "\xff\xff"), "65535 members; the maximum is 100", ErrorKind::kInvalid);
  ExpectRefused(WithEnd(10, "\xff\xff"), "65535 members; the maximum is 100", ErrorKind::kInvalid);
  ExpectRefused(WithEnd(12, std::string_view("\0\0\0\x04", 4)),
                "its directory has 67108864 bytes; the maximum is 102400", ErrorKind::kInvalid);
  std::string huge = Good();
  huge.insert(huge.size() - 22, "PK\x06\x07" + std::string(16, '\0'));
  ExpectRefused(huge, "ZIP64 archives are not supported", ErrorKind::kInvalid);
}

TEST(Archive, EndWithinTheCommentOfAnother_IsCheckedToo) {
  std::string outer = WithEnd(20, std::string_view("\x16\0", 2));
  EXPECT_FALSE(ReadArchive(outer));  // the comment is missing
  ExpectRefused(outer + WithEnd(8, "\xff\xff").substr(Good().size() - 22), "65535 members", ErrorKind::kInvalid);
}

TEST(Archive, ZerosThatInflateBeyondTheLimit_AreRefused) {
  const auto bomb = WriteArchive(std::vector<Member>{{"bomb", std::string((size_t{64} << 20) + 1, '\0')}},
                                 {.member_bytes = size_t{1} << 30});
  ASSERT_TRUE(bomb);
  EXPECT_LT(bomb->size(), 100'000u);
  ExpectRefused(*bomb, "member 'bomb': too large: the maximum is 64 MiB unpacked", ErrorKind::kInvalid);
}

TEST(Archive, ArchiveInAnArchive_IsRefused) {
  using std::string_view_literals::operator""sv;
  // One stored member "inner", which is an empty archive.
  const auto outer =
      "PK\3\4\x14\0\0\0\0\0\0\0!\0\x0e\xc5\xcb\xd7\x16\0\0\0\x16\0\0\0\5\0\0\0inner"
      "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
      "PK\1\2\x14\3\x14\0\0\0\0\0\0\0!"
      "\0\x0e\xc5\xcb\xd7\x16\0\0\0\x16\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\xa4\x81\0\0\0\0inner"
      "PK\5\6\0\0\0\0\1\0\1\0\x33\0\0\0\x39\0\0\0\0\0"sv;
  ExpectRefused(outer, "member 'inner': an archive in an archive");
}

TEST(Archive, WhatCouldNotBeRead_IsNotWritten) {
  const auto why_not = [](const std::vector<Member>& members, const Limits& limits = {}) {
    const auto written = WriteArchive(members, limits);
    EXPECT_EQ(written ? ErrorKind::kIo : written.error().kind, ErrorKind::kInvalid);
    return written ? "written" : written.error().message;
  };
  EXPECT_THAT(why_not({}), HasSubstr("the archive is empty"));
  EXPECT_THAT(why_not({{"../evil", ""}}), HasSubstr("member '../evil': a path that leaves"));
  EXPECT_THAT(why_not({{std::string("a\0b", 3), ""}}), HasSubstr("control characters"));
  EXPECT_THAT(why_not({{"a", ""}, {"a", ""}}), HasSubstr("member 'a': it appears twice"));
  EXPECT_THAT(why_not({{"inner", Good()}}), HasSubstr("member 'inner': an archive in an archive"));
  EXPECT_THAT(why_not({{"a", "12"}, {"b", "3"}}, {.members = 1}), HasSubstr("2 members; the maximum is 1"));
  EXPECT_THAT(why_not({{"a", "12"}, {"b", "3"}}, {.member_bytes = 1}), HasSubstr("member 'a': too large"));
  EXPECT_THAT(why_not({{"a", "12"}, {"b", "3"}}, {.total_bytes = 2}), HasSubstr("member 'b': too large"));
}

TEST(Archive, Empty_IsRefused) {
  std::string none = "PK\x05\x06";
  none.append(18, '\0');
  ExpectRefused(none, "the archive is empty");
}

}  // namespace
}  // namespace kepler::lab::files
