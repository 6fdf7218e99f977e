#include "lab/plot/render.h"

#include <cairo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <variant>

#include "base/unique_fd.h"

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

struct Pixel {
  int red = 0, green = 0, blue = 0;
  bool operator==(const Pixel&) const = default;
};

/// What a PNG shows, two pixels for each of the drawing's.
class Picture {
 public:
  explicit Picture(std::string_view png) {
    const auto take = [](void* rest, unsigned char* into, unsigned int size) {
      auto& left = *static_cast<std::string_view*>(rest);
      if (left.size() < size) return CAIRO_STATUS_READ_ERROR;
      std::copy_n(left.begin(), size, into);
      left.remove_prefix(size);
      return CAIRO_STATUS_SUCCESS;
    };
    surface_.reset(cairo_image_surface_create_from_png_stream(take, &png));
    EXPECT_EQ(cairo_surface_status(surface_.get()), CAIRO_STATUS_SUCCESS);
  }
  [[nodiscard]] Pixel At(int x, int y) const {
    const unsigned char* const row = cairo_image_surface_get_data(surface_.get()) +
                                     ptrdiff_t{2} * y * cairo_image_surface_get_stride(surface_.get());
    uint32_t pixel = 0;
    std::memcpy(&pixel, row + size_t{8} * static_cast<size_t>(x), sizeof(pixel));
    return {.red = static_cast<int>(pixel >> 16 & 0xff),
            .green = static_cast<int>(pixel >> 8 & 0xff),
            .blue = static_cast<int>(pixel & 0xff)};
  }

 private:
  std::unique_ptr<cairo_surface_t, Freer<cairo_surface_destroy>> surface_;
};

TEST(Render, Png_ShowsEveryShape) {
  const auto png = RenderPng(Small());
  ASSERT_TRUE(png) << png.error().message;
  const Picture picture(*png);
  constexpr Pixel kWhite = {.red = 255, .green = 255, .blue = 255};
  EXPECT_EQ(picture.At(95, 5), kWhite) << "the box";
  EXPECT_EQ(picture.At(50, 50), (Pixel{.red = 0, .green = 0, .blue = 255})) << "the dot";
  EXPECT_EQ(picture.At(50, 44), kWhite) << "next to the dot";
  const Pixel on_line = picture.At(4, 4);
  EXPECT_TRUE(on_line.red == 255 && on_line.green < 100) << "the line";
  EXPECT_EQ(picture.At(30, 30), kWhite) << "behind the end of the line";
  size_t dark = 0;
  for (int x = 5; x < 18; ++x)
    for (int y = 10; y <= 20; ++y) dark += picture.At(x, y).green < 128;
  EXPECT_GT(dark, 8u) << "the letter";
}

/// How many elements of an SVG have a colour, by what it writes of that.
size_t Painted(std::string_view svg, const std::string& colour) {
  const std::regex pattern("(fill|stroke)[:=]\"?" + colour);
  return static_cast<size_t>(
      std::distance(std::cregex_iterator(svg.begin(), svg.end(), pattern), std::cregex_iterator()));
}

TEST(Render, Svg_ShowsEveryShape) {
  const auto svg = RenderSvg(Small());
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_EQ(Painted(*svg, R"(rgb\(100%, ?100%, ?100%\))"), 1u) << "the box\n" << *svg;
  EXPECT_EQ(Painted(*svg, R"(rgb\(100%, ?0%, ?0%\))"), 1u) << "the line";
  EXPECT_EQ(Painted(*svg, R"(rgb\(0%, ?0%, ?100%\))"), 1u) << "the dot";
  EXPECT_EQ(Painted(*svg, R"(rgb\(0%, ?0%, ?0%\))"), 1u) << "the letter";
}

TEST(Render, Svg_IsOneDocumentWithoutFonts) {
  const auto svg = RenderSvg(Small());
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_THAT(*svg, StartsWith("<?xml"));
  EXPECT_THAT(*svg, HasSubstr("viewBox=\"0 0 100 60\""));
  EXPECT_THAT(*svg, EndsWith("</svg>\n"));
  EXPECT_THAT(*svg, Not(HasSubstr("<text")));
}

TEST(Render, CharactersThatXmlForbids_AreReplaced) {
  const auto draw = [](std::string text) {
    Drawing drawing = Small();
    std::get<Text>(drawing.shapes[1]).text = std::move(text);
    EXPECT_TRUE(RenderSvg(drawing));
    return RenderPng(drawing);
  };
  const auto replaced = draw("a\ufffdb");
  ASSERT_TRUE(replaced);
  for (const char* const text : {"a\ufffeb", "a\uffffb", "a\ufdd0b", "a\ufdefb", "a\U0001fffeb", "a\U0010ffffb"}) {
    const auto drawn = draw(text);
    ASSERT_TRUE(drawn) << text << ": " << drawn.error().message;
    EXPECT_TRUE(*drawn == *replaced) << text;
  }
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
  const std::string page =
      HtmlPage("<b> & \"c\"", {{.svg = "<?xml version=\"1.0\"?>\n<svg>x</svg>\n",
                                .sheets = {{.caption = "<i>", .head = {"a", "b"}, .rows = {{"<script>", "2"}}}}}});
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt; &amp; &quot;c&quot;</title>"));
  EXPECT_THAT(page, HasSubstr("<svg>x</svg>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>&lt;script&gt;</td><td>2</td></tr>"));
  EXPECT_THAT(page, HasSubstr("<caption>&lt;i&gt;</caption>"));
  EXPECT_THAT(page, Not(HasSubstr("<?xml")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(HtmlPage, DrawingsDoNotShareIds) {
  const std::string svg = R"x(<svg><g id="a"/><use xlink:href="#a"/><g clip-path="url(#a)"/></svg>)x";
  const std::string page = HtmlPage("t", {{.svg = svg, .sheets = {}}, {.svg = svg, .sheets = {}}});
  for (const std::string number : {"d0", "d1"}) {
    EXPECT_THAT(page, HasSubstr("id=\"" + number + "-a\""));
    EXPECT_THAT(page, HasSubstr("href=\"#" + number + "-a\""));
    EXPECT_THAT(page, HasSubstr("url(#" + number + "-a)"));
  }
  EXPECT_THAT(page, Not(HasSubstr("\"a\"")));
}

TEST(HtmlPage, ASectionMayHaveNoDrawing) {
  EXPECT_THAT(HtmlPage("t", {{.svg = "", .sheets = {{.caption = "c", .head = {"a"}, .rows = {}}}}}),
              ::testing::AllOf(HasSubstr("<caption>c</caption>"), Not(HasSubstr("role=\"img\""))));
}

}  // namespace
}  // namespace kepler::lab::plot
