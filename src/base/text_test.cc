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

TEST(EscapeControls, ControlCharacters_AreShownNotSent) {
  EXPECT_EQ(EscapeControls("a\x1B[31m\x07\x7F\n\xC3\xA9"), "a\\x1b[31m\\x07\\x7f\\x0a\xC3\xA9");
}

TEST(NearestName, Typo_IsFound) {
  constexpr std::array<std::string_view, 3> kKnown = {"interval", "staleness", "maxTerminated"};
  EXPECT_EQ(NearestName("intervall", kKnown), "interval");
  EXPECT_EQ(NearestName("stalenes", kKnown), "staleness");
  EXPECT_EQ(NearestName("zzz", kKnown), "");
}

TEST(IsValidUtf8, WellFormedOnly) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("a\xC3\xA9\xE6\x97\xA5\xF0\x9F\x94\xA5"));
  EXPECT_FALSE(IsValidUtf8("a\xFF"));
  EXPECT_FALSE(IsValidUtf8("\xE6\x97"));          // cut
  EXPECT_FALSE(IsValidUtf8("\xC0\xAF"));          // overlong
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));  // > U+10FFFF
}

}  // namespace
}  // namespace kepler
