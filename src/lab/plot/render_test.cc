#include "lab/plot/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lab/plot/html.h"

namespace kepler::lab::plot {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Drawing Small() {
  return {.width = 100,
          .height = 60,
          .shapes = {Box{.corner = {}, .width = 100, .height = 60, .fill = {.red = 255, .green = 255, .blue = 255}},
                     Text{.at = {.x = 5, .y = 20}, .text = "W", .size = 12, .color = {}},
                     Line{.points = {{.x = 0, .y = 0}, {.x = 9, .y = 9}}, .color = {.red = 255}},
                     Dots{.centers = {{.x = 50, .y = 50}}, .color = {.blue = 255}, .diameter = 4}}};
}

TEST(Render, Png_HasTwoPixelsForOne) {
  const auto png = RenderPng(Small());
  ASSERT_TRUE(png) << png.error().message;
  EXPECT_THAT(*png, StartsWith("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png->substr(16, 8), std::string("\0\0\0\xc8\0\0\0\x78", 8));  // width and height of IHDR
  EXPECT_TRUE(RenderPng(Small()) == *png);
}

TEST(Render, Svg_IsOneDocumentWithoutFonts) {
  const auto svg = RenderSvg(Small());
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_THAT(*svg, StartsWith("<?xml"));
  EXPECT_THAT(*svg, HasSubstr("viewBox=\"0 0 100 60\""));
  EXPECT_THAT(*svg, EndsWith("</svg>\n"));
  EXPECT_THAT(*svg, Not(HasSubstr("<text")));
}

TEST(Render, TextThatIsNotUtf8_IsAnError) {
  Drawing drawing = Small();
  drawing.shapes.emplace_back(Text{.at = {}, .text = "\xff", .size = 12, .color = {}});
  EXPECT_FALSE(RenderSvg(drawing));
  EXPECT_FALSE(RenderPng(drawing));
}

TEST(Render, APageThatPngCannotHold_IsAnError) {
  Drawing drawing = Small();
  drawing.height = 1e6;
  EXPECT_EQ(RenderPng(drawing).error().kind, ErrorKind::kInvalid);
}

TEST(HtmlPage, TextsStandForThemselves) {
  const std::string page = HtmlPage("<b> & \"c\"", "<?xml version=\"1.0\"?>\n<svg>x</svg>\n",
                                    {{.caption = "<i>", .head = {"a", "b"}, .rows = {{"<script>", "2"}}}});
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt; &amp; &quot;c&quot;</title>"));
  EXPECT_THAT(page, HasSubstr("<svg>x</svg>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>&lt;script&gt;</td><td>2</td></tr>"));
  EXPECT_THAT(page, HasSubstr("<caption>&lt;i&gt;</caption>"));
  EXPECT_THAT(page, Not(HasSubstr("<?xml")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

}  // namespace
}  // namespace kepler::lab::plot
