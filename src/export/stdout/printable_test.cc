#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "base/text.h"
#include "export/stdout/text_table.h"

namespace kepler::console {
namespace {

TEST(Printable, PlainText_Unchanged) { EXPECT_EQ(Printable("kworker/0:1", 32), "kworker/0:1"); }

TEST(Printable, ControlCharacters_Replaced) {
  EXPECT_EQ(Printable("a\nb\tc\x1b[2J\x7f", 32), "a?b?c?[2J?");
  EXPECT_EQ(Printable("\xC2\x9B", 32), "?");  // C1: the 8-bit form of ESC [
}

TEST(Printable, CombiningAndBidirectional_Replaced) {
  EXPECT_EQ(Printable("e\xCC\x81", 32), "e?");
  EXPECT_EQ(Printable("\u202Etxt\u202C", 32), "?txt?");
}

TEST(Printable, WhatATerminalObeys_IsNeverShown) {
  for (char32_t c = 0; c < 0x3000; ++c) {
    if (!IsControl(c)) continue;
    std::string text;
    if (c >= 0x800) text += static_cast<char>(0xE0 | (c >> 12));
    if (c >= 0x80) text += static_cast<char>(c >= 0x800 ? 0x80 | ((c >> 6) & 0x3F) : 0xC0 | (c >> 6));
    text += static_cast<char>(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
    EXPECT_EQ(Printable(text, 32), "?") << static_cast<uint32_t>(c);
  }
}

TEST(Printable, InvalidUtf8_Replaced) { EXPECT_EQ(Printable("a\xFFz", 32), "a\xEF\xBF\xBDz"); }

TEST(Printable, TooLong_CutWithEllipsis) {
  EXPECT_EQ(Printable("abcdef", 6), "abcdef");
  EXPECT_EQ(Printable("abcdefg", 6), "abcde…");
  EXPECT_EQ(Printable("日本語", 5), "日本…");
  EXPECT_EQ(Printable("日本語", 4), "日…");
  EXPECT_EQ(Printable("ab", 1), "…");
}

TEST(Columns, WideCharacters_CountTwice) {
  EXPECT_EQ(Columns("abc"), 3u);
  EXPECT_EQ(Columns("日本"), 4u);
  EXPECT_EQ(Columns("é…"), 2u);
}

RC_GTEST_PROP(Printable, AnyBytes_ValidAndWithinBounds, (const std::string& bytes)) {
  const auto max = static_cast<size_t>(*rc::gen::inRange(1, 20));
  const std::string text = Printable(bytes, max);
  RC_ASSERT(IsValidUtf8(text));
  RC_ASSERT(Columns(text) <= max);
  for (const char c : text) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace
}  // namespace kepler::console
