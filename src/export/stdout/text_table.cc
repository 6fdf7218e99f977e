#include "export/stdout/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "base/text.h"

namespace kepler::console {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Characters with a known fixed width of one or two columns. All other characters are not shown: controls, combining
// marks, right-to-left scripts and joiners. Blocks and East Asian Width of Unicode 15.
constexpr Range kNarrow[] = {{0x20, 0x7E},     {0xA1, 0xAC},     {0xAE, 0x2FF},    {0x370, 0x482},   {0x48A, 0x52F},
                             {0x1E00, 0x1FFF}, {0x2010, 0x2027}, {0x2030, 0x205E}, {0x20A0, 0x20C0}, {0x2190, 0x21FF},
                             {0x2500, 0x259F}, {0xFF61, 0xFF9F}, {0xFFFD, 0xFFFD}};
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x3029},   {0x3030, 0x303E},   {0x3041, 0x3098},   {0x309B, 0x33FF},  {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFF01, 0xFF60},  {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F320}, {0x1F400, 0x1F43E}, {0x1F600, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

bool IsIn(std::span<const Range> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](Range r) { return c >= r.first && c <= r.last; });
}

size_t Width(char32_t c) { return IsIn(kWide, c) ? 2 : 1; }

}  // namespace

std::string Printable(std::string_view text, size_t max) {
  const std::string valid = SanitizeUtf8(text, std::numeric_limits<size_t>::max());
  std::string out;
  size_t columns = 0;
  size_t room_for_ellipsis = 0;  // position of the cut if the text is too long
  for (std::string_view rest = valid; !rest.empty();) {
    const auto [code, bytes] = FirstCharacter(rest);
    const bool shown = IsIn(kNarrow, code) || IsIn(kWide, code);
    const size_t width = shown ? Width(code) : 1;
    if (columns + width > max) return out.substr(0, room_for_ellipsis) + "…";
    out.append(shown ? rest.substr(0, bytes) : "?");
    columns += width;
    if (columns < max) room_for_ellipsis = out.size();
    rest.remove_prefix(bytes);
  }
  return out;
}

size_t Columns(std::string_view printable) {
  size_t columns = 0;
  while (!printable.empty()) {
    const auto [code, bytes] = FirstCharacter(printable);
    columns += Width(code);
    printable.remove_prefix(bytes);
  }
  return columns;
}

namespace {

std::string Rule(const std::vector<size_t>& widths, std::string_view left, std::string_view middle,
                 std::string_view right) {
  std::string line(left);
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i != 0) line += middle;
    for (size_t n = 0; n < widths[i] + 2; ++n) line += "─";
  }
  line += right;
  line += '\n';
  return line;
}

/// Returns " cell " with `before` extra leading blanks, filled up to `width`.
std::string Cell(std::string_view text, size_t width, size_t before) {
  const size_t after = width - Columns(text) - before;
  return std::string(before + 1, ' ') + std::string(text) + std::string(after + 1, ' ');
}

}  // namespace

std::string DecimalText(double value, int decimals) {
  const double smallest = std::pow(10, -decimals);
  if (value > 0 && value < smallest / 2) return fmt::format("<{:.{}f}", smallest, decimals);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string DrawTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = Columns(columns[i].header);
    for (const auto& row : rows) width = std::max(width, Columns(row[i]));
    widths.push_back(width);
  }
  std::string out = Rule(widths, "┌", "┬", "┐");
  for (size_t i = 0; i < columns.size(); ++i)
    out += "│" + Cell(columns[i].header, widths[i], (widths[i] - Columns(columns[i].header)) / 2);
  out += "│\n" + Rule(widths, "├", "┼", "┤");
  for (const auto& row : rows) {
    for (size_t i = 0; i < columns.size(); ++i)
      out += "│" + Cell(row[i], widths[i], columns[i].align == Align::kRight ? widths[i] - Columns(row[i]) : 0);
    out += "│\n";
  }
  return out + Rule(widths, "└", "┴", "┘");
}

}  // namespace kepler::console
