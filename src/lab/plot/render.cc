#include "lab/plot/render.h"

#include <cairo.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <variant>

#include <cairo-svg.h>

#include "base/text.h"
#include "base/unique_fd.h"

namespace kepler::lab::plot {
namespace {

using Surface = std::unique_ptr<cairo_surface_t, Freer<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Freer<cairo_destroy>>;

constexpr double kPngScale = 2;
constexpr double kMaxPixels = 30'000;  // Cairo's own limit is 32,767

cairo_status_t Append(void* text, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

void SetColor(cairo_t* cairo, const Color& color) {
  cairo_set_source_rgba(cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0, color.alpha);
}

void Paint(cairo_t* cairo, const Box& box) {
  SetColor(cairo, box.fill);
  cairo_rectangle(cairo, box.corner.x, box.corner.y, box.width, box.height);
  cairo_fill(cairo);
}

void Paint(cairo_t* cairo, const Line& line) {
  SetColor(cairo, line.color);
  cairo_set_line_width(cairo, line.width);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
  constexpr double kDash[] = {5, 4};
  cairo_set_dash(cairo, kDash, line.dashed ? 2 : 0, 0);
  cairo_new_path(cairo);  // text leaves a point behind
  for (const Point& point : line.points) cairo_line_to(cairo, point.x, point.y);
  cairo_stroke(cairo);
}

/// As lines of no length with round ends, which take a tenth of what circles do in SVG.
void Paint(cairo_t* cairo, const Dots& dots) {
  SetColor(cairo, dots.color);
  cairo_set_line_width(cairo, dots.diameter);
  cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_dash(cairo, nullptr, 0, 0);
  for (const Point& center : dots.centers) {
    cairo_move_to(cairo, center.x, center.y);
    cairo_line_to(cairo, center.x, center.y);
  }
  cairo_stroke(cairo);
}

/// Cairo refuses noncharacters (U+FDD0 to U+FDEF, and the last two code points of each plane), and so does XML.
bool IsNoncharacter(char32_t code) { return (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef); }

/// Replaces noncharacters by U+FFFD.
std::string Drawable(std::string_view text) {
  if (!IsValidUtf8(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    out += IsNoncharacter(first.code) ? "\ufffd" : text.substr(0, first.bytes);
    text.remove_prefix(first.bytes);
  }
  return out;
}

void Paint(cairo_t* cairo, const Text& text) {
  const std::string shown = Drawable(text.text);
  SetColor(cairo, text.color);
  cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         text.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, text.size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, shown.c_str(), &extents);
  const double share = text.align == Align::kLeft ? 0 : text.align == Align::kCenter ? 0.5 : 1;
  cairo_move_to(cairo, text.at.x - extents.x_advance * share, text.at.y);
  cairo_show_text(cairo, shown.c_str());
}

Status PaintAll(cairo_surface_t* surface, const Drawing& drawing, double scale) {
  const Context cairo(cairo_create(surface));
  cairo_scale(cairo.get(), scale, scale);
  for (const Shape& shape : drawing.shapes) std::visit([&](const auto& s) { Paint(cairo.get(), s); }, shape);
  if (const cairo_status_t status = cairo_status(cairo.get()); status != CAIRO_STATUS_SUCCESS)
    return Fail(ErrorKind::kIo, fmt::format("draw: {}", cairo_status_to_string(status)));
  return {};
}

}  // namespace

Result<std::string> RenderSvg(const Drawing& drawing) {
  std::string text;
  {
    const Surface surface(cairo_svg_surface_create_for_stream(Append, &text, drawing.width, drawing.height));
    cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
    KEPLER_CHECK_OK(PaintAll(surface.get(), drawing, 1));
    cairo_surface_finish(surface.get());
  }
  return text;
}

Result<std::string> RenderPng(const Drawing& drawing) {
  const double width = std::ceil(drawing.width * kPngScale);
  const double height = std::ceil(drawing.height * kPngScale);
  if (!(width <= kMaxPixels && height <= kMaxPixels))
    return Fail(ErrorKind::kInvalid, "the page is too large for PNG; write SVG");
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  KEPLER_CHECK_OK(PaintAll(surface.get(), drawing, kPngScale));
  std::string bytes;
  if (const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), Append, &bytes);
      status != CAIRO_STATUS_SUCCESS)
    return Fail(ErrorKind::kIo, fmt::format("write PNG: {}", cairo_status_to_string(status)));
  return bytes;
}

}  // namespace kepler::lab::plot

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// Fontconfig keeps the fonts that it found until the program ends, where only it knows of them.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
#endif
#endif
