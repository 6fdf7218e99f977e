#include "export/stdout/table.h"

#include <algorithm>
#include <string_view>

#include "export/stdout/printable.h"

namespace kepler::console {
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

/// " cell " with `before` blanks more in front, up to `width`.
std::string Cell(std::string_view text, size_t width, size_t before) {
  const size_t after = width - Columns(text) - before;
  return std::string(before + 1, ' ') + std::string(text) + std::string(after + 1, ' ');
}

}  // namespace

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
