#include "top/text_cells.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace kepler::top {
namespace {

TEST(TextCells, NoControlCharacterReachesTheTerminal) {
  std::string hostile;
  for (int c = 0; c < 0x20; ++c) hostile += static_cast<char>(c);
  hostile += "\x7f\xc2\x9b[31m\x1b]0;title\x07\u202e\u2028\xff";
  for (const Glyphs glyphs : {Glyphs::kUtf8, Glyphs::kAscii}) {
    const std::string shown = Shown(hostile, 1000, glyphs);
    for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << shown;
    EXPECT_EQ(shown.find("\xc2\x9b"), std::string::npos) << "C1 controls are escapes too";
    EXPECT_EQ(shown.find("\u202e"), std::string::npos);
  }
  EXPECT_EQ(Shown("a\x1b[2Jb", 20, Glyphs::kUtf8), "a?[2Jb");
}

TEST(TextCells, CountColumnsOfWideCharacters) {
  EXPECT_EQ(WidthOf("日本"), 4);
  EXPECT_EQ(Cell("日本", 6, Side::kLeft, Glyphs::kUtf8), "日本  ");
  EXPECT_EQ(Cell("日本", 6, Side::kRight, Glyphs::kUtf8), "  日本");
  for (size_t width = 0; width < 8; ++width)
    EXPECT_EQ(WidthOf(Cell("日本語", width, Side::kLeft, Glyphs::kUtf8)), width);
  EXPECT_EQ(Cell("日本", 5, Side::kLeft, Glyphs::kAscii), "???? ");
  EXPECT_EQ(Cell("a longer name", 8, Side::kLeft, Glyphs::kUtf8), "a longe…");
  EXPECT_EQ(Cell("a longer name", 8, Side::kLeft, Glyphs::kAscii), "a longe~");
}

TEST(TextCells, FiguresStayShort) {
  EXPECT_EQ(WattsText(std::nullopt), "-");
  EXPECT_EQ(WattsText(12.5), "12.50");
  EXPECT_EQ(WattsText(1234.56), "1234.6");
  EXPECT_EQ(WattsText(12'345.6), "12346");
  EXPECT_EQ(JoulesText(0), "0.0");
  EXPECT_EQ(JoulesText(345.678), "345.7");
  EXPECT_EQ(JoulesText(12'345), "12.35k");
  EXPECT_EQ(JoulesText(999'999), "1.00M");
  EXPECT_EQ(CoresText(0.714), "0.71");
  EXPECT_EQ(TimeText(12.34), "12.3s");
  EXPECT_EQ(TimeText(754), "12m34s");
  EXPECT_EQ(TimeText(3 * 3600 + 4 * 60), "3h04m");
  EXPECT_EQ(TimeText(5 * 86'400 + 3 * 3600), "5d03h");
  EXPECT_EQ(MoneyText(0), "0.00");
  EXPECT_EQ(MoneyText(1234.5), "1234.50");
  EXPECT_EQ(MoneyText(0.0345), "0.0345");
  EXPECT_EQ(MoneyText(0.0000123), "0.000012");
  EXPECT_EQ(MoneyText(0.0000001), "<0.00001");
  EXPECT_EQ(CarbonText(0), "0.000g");
  EXPECT_EQ(CarbonText(0.0004), "<0.001g");
  EXPECT_EQ(CarbonText(0.25), "0.250g");
  EXPECT_EQ(CarbonText(12.34), "12.3g");
  EXPECT_EQ(CarbonText(4560), "4.56kg");
  for (const double number : {1e300, -1e300, std::numeric_limits<double>::infinity()})
    for (const std::string& text : {WattsText(number), JoulesText(number), TimeText(number), MoneyText(number)})
      EXPECT_LE(text.size(), 12) << text;
}

TEST(Sparkline, SpansTheRangeOfTheLastValues) {
  const std::vector<std::optional<double>> values = {500, 10, 20, std::nullopt, 30, 40};
  EXPECT_EQ(Sparkline(values, 5, Glyphs::kUtf8), "▁▃ ▆█");
  EXPECT_EQ(Sparkline(values, 5, Glyphs::kAscii), "_- *#");
  EXPECT_EQ(Sparkline(values, 0, Glyphs::kUtf8), "");
  const std::vector<std::optional<double>> flat(3, 7.0);
  EXPECT_EQ(Sparkline(flat, 10, Glyphs::kUtf8), "▁▁▁");
  const std::vector<std::optional<double>> odd = {std::numeric_limits<double>::quiet_NaN(), std::nullopt};
  EXPECT_EQ(Sparkline(odd, 10, Glyphs::kUtf8), "  ");
}

}  // namespace
}  // namespace kepler::top
