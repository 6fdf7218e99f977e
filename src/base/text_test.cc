#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace kepler {
namespace {

TEST(SanitizeUtf8, Valid_IsUnchanged) {
  EXPECT_EQ(SanitizeUtf8("sh \"x\"\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 100),
            "sh \"x\"\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(SanitizeUtf8, InvalidBytes_BecomeReplacements) {
  EXPECT_EQ(SanitizeUtf8("a\xFF"
                         "b",
                         100),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(SanitizeUtf8("\xC0\xAF", 100), "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong
  EXPECT_EQ(SanitizeUtf8("\xED\xA0\x80", 100).size(), 9u);               // surrogate
  EXPECT_EQ(SanitizeUtf8("caf\xC3", 100), "caf\xEF\xBF\xBD");            // cut in the middle, as a 15-byte comm is
}

TEST(SanitizeUtf8, TooLong_IsCutOnACharacterBorder) {
  EXPECT_EQ(SanitizeUtf8("ab\xE2\x82\xAC", 4), "ab");
  EXPECT_EQ(SanitizeUtf8("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
}

RC_GTEST_PROP(SanitizeUtf8, AnyBytes_GiveBoundedIdempotentText, (const std::string& bytes)) {
  const std::string once = SanitizeUtf8(bytes, 64);
  RC_ASSERT(once.size() <= 64u);
  RC_ASSERT(SanitizeUtf8(once, 64) == once);
}

TEST(LabelText, ControlCharactersButTheLineFeed_AreReplaced) {
  EXPECT_EQ(LabelText(std::string_view("a\0b\r\n\x1B[31m\x7F\u009B\u202E\xFF \u00E9", 20)),
            "a\uFFFDb\uFFFD\n\uFFFD[31m\uFFFD\uFFFD\uFFFD\uFFFD \u00E9");
  EXPECT_EQ(LabelText(std::string(200, '\t')).size(), 255u);
}

TEST(EscapeControls, ControlCharacters_AreShownNotSent) {
  EXPECT_EQ(EscapeControls("a\x1B[31m\x07\x7F\n\xC3\xA9"), "a\\x1b[31m\\x07\\x7f\\x0a\xC3\xA9");
}

TEST(EscapeControls, ControlsBeyondAscii_AreShownNotSent) {
  EXPECT_EQ(EscapeControls("a\xC2\x9B"
                           "2J"),
            "a\\u009b2J");                                            // C1: the 8-bit form of ESC [
  EXPECT_EQ(EscapeControls("\u2028\u2029"), "\\u2028\\u2029");        // line and paragraph separator
  EXPECT_EQ(EscapeControls("x\u202Ey\u202Cz"), "x\\u202ey\\u202cz");  // the other direction, and the end of it
  EXPECT_EQ(EscapeControls("\u00E9\u20AC\U0001F600"), "\u00E9\u20AC\U0001F600");
}

TEST(EscapeControls, AsciiEnds_AtItsLastCharacter) { EXPECT_EQ(EscapeControls("\x7F\u0080"), "\\x7f\\u0080"); }

TEST(EscapeControls, BytesThatAreNoUtf8_AreShown) {
  EXPECT_EQ(EscapeControls("a\x9B[2J\xFF"), "a\\x9b[2J\\xff");  // the first is CSI to a terminal of Latin-1
}

TEST(IsControl, EveryRange_AtItsEnds) {
  constexpr std::array<char32_t, 14> kControls = {0x0,    0x1F,   0x7F,   0x80,   0x9F,   0x61C,  0x200E,
                                                  0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069};
  for (const char32_t c : kControls) EXPECT_TRUE(IsControl(c)) << static_cast<uint32_t>(c);
  constexpr std::array<char32_t, 11> kOthers = {0x20,   0x7E,   0xA0,   0x61B,  0x200D, 0x2010,
                                                0x2027, 0x202F, 0x2065, 0x206A, 0x1F600};
  for (const char32_t c : kOthers) EXPECT_FALSE(IsControl(c)) << static_cast<uint32_t>(c);
}

TEST(ToLowerAscii, LettersOnly) { EXPECT_EQ(ToLowerAscii("@AZ[`az{\u00C9"), "@az[`az{\u00C9"); }

TEST(NearestName, Typo_IsFound) {
  constexpr std::array<std::string_view, 3> kKnown = {"interval", "staleness", "maxTerminated"};
  EXPECT_EQ(NearestName("intervall", kKnown), "interval");
  EXPECT_EQ(NearestName("stalenes", kKnown), "staleness");
  EXPECT_EQ(NearestName("zzz", kKnown), "");
  EXPECT_EQ(NearestName("val", kKnown), "") << "its end only";
}

TEST(NearestName, LongText_IsNoSlipOfThePen) {
  const std::string known(101, 'a');
  const std::array<std::string_view, 1> names = {known};
  EXPECT_EQ(NearestName(std::string(100, 'a'), names), known);
  EXPECT_EQ(NearestName(std::string(101, 'a'), names), "");
}

TEST(NearestName, CountsLettersLeftOutAddedAndReplacedAlike) {
  constexpr std::array<std::string_view, 2> kKnown = {"abcdef", "abcxyz"};
  for (const auto* name : {"abcdf", "bcdef", "abcde", "abccdef", "zabcdef", "abcdefz", "abcdeg", "xbcdef"})
    EXPECT_EQ(NearestName(name, kKnown), "abcdef") << name;
  for (const auto* name : {"abcyz", "abcxyzz", "abcxyf", "abcdyz", "abcxez"})
    EXPECT_EQ(NearestName(name, kKnown), "abcxyz") << name;
  EXPECT_EQ(NearestName("uvcdef", kKnown), "abcdef") << "two of six are not too many";
  EXPECT_EQ(NearestName("uvwdef", kKnown), "") << "three are";
}

TEST(IsValidUtf8, WrongByteAnywhere_IsFound) {
  for (size_t size = 1; size <= 24; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\xFF';
      EXPECT_FALSE(IsValidUtf8(text)) << at << " of " << size;
      text.replace(at, 1, "\xC3\xA9");
      EXPECT_TRUE(IsValidUtf8(text)) << at << " of " << size;
    }
  }
}

TEST(IsValidUtf8, WellFormedOnly) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("a\xC3\xA9\xE6\x97\xA5\xF0\x9F\x94\xA5"));
  EXPECT_FALSE(IsValidUtf8("a\xFF"));
  EXPECT_FALSE(IsValidUtf8("\xE6\x97"));  // cut
  EXPECT_TRUE(IsValidUtf8("\xF1\x80\x80\x80\xF4\x8F\xBF\xBF"));
  EXPECT_TRUE(IsValidUtf8("\xE1\x80\x80\xED\x9F\xBF"));
  EXPECT_FALSE(IsValidUtf8("\xC0\xAF"));          // overlong
  EXPECT_FALSE(IsValidUtf8("\xE0\x80\x80"));      // overlong
  EXPECT_FALSE(IsValidUtf8("\xF0\x80\x80\x80"));  // overlong
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));  // > U+10FFFF
}

TEST(QuoteJson, SpecialControlAndInvalid_Escaped) {
  EXPECT_EQ(QuoteJson("/usr/bin/ä"), "\"/usr/bin/ä\"");
  EXPECT_EQ(QuoteJson("a\"b\\c\n\r\t"), R"("a\"b\\c\n\r\t")");
  EXPECT_EQ(QuoteJson("\x01\x7F\u0085\u202E"), R"("\u0001\u007f\u0085\u202e")");
  EXPECT_EQ(QuoteJson("\xFF"), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace kepler
