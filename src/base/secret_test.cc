
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

namespace kepler {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kKey = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n";

TEST(LooksSecret, KeysAndHashes_Do) {
  EXPECT_TRUE(LooksSecret(kKey));
  EXPECT_TRUE(LooksSecret("x -----BEGIN"));
  EXPECT_TRUE(LooksSecret("$2y$10$abcdefghijklmnopqrstuu"));
  for (const auto text : {"", "/etc/kepler/server.key", "$HOME/2b", "-----BEGI"})
    EXPECT_FALSE(LooksSecret(text)) << text;
}

TEST(ShowUnlessSecret, OtherTexts_AreShownAndCut) {
  EXPECT_EQ(ShowUnlessSecret(kKey, 80), "(not shown)");
  EXPECT_EQ(ShowUnlessSecret("abcdef", 3), SanitizeUtf8("abcdef", 3));
}

TEST(WhyNoPath, KeysAndLineBreaks_AreNone) {
  for (const auto text : {""sv, "/etc/a b/ü.key"sv, "relative"sv, "with \"quotes\""sv})
    EXPECT_EQ(WhyNoPath(text), "") << text;
  for (const auto text : {kKey, "-----BEGIN"sv, "a\nb"sv, "a\n"sv, "a\0b"sv, "\x1b[31m"sv, "a\x7f"sv}) {
    const std::string why(WhyNoPath(text));
    EXPECT_NE(why, "") << text;
    EXPECT_EQ(why.find("MIIE"), std::string::npos);
  }
}

}  // namespace
}  // namespace kepler
