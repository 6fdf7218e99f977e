#include "lab/training/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "model/features.h"

namespace kepler::lab::training {
namespace {

constexpr size_t kMaxShown = 40;

std::string Shown(std::string_view text) { return EscapeControls(SanitizeUtf8(text, kMaxShown)); }

/// from_chars knows no plus sign.
std::optional<double> FiniteNumber(std::string_view text) {
  text = Trim(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto number = ParseNumber<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

/// One pass over the text; quotes are taken out in place, so that a cell is a piece of it.
class CsvReader {
 public:
  CsvReader(std::string text, size_t max_cells) : max_cells_(max_cells) { table_.text_ = std::move(text); }

  Result<Table> Read() {
    KEPLER_CHECK_OK(SkipMark());
    KEPLER_CHECK_OK(ReadHeader());
    while (SkipEmptyLines()) {
      const auto line = line_;
      KEPLER_CHECK_OK(ReadRow());
      if (row_.size() != table_.names_.size())
        return Fail(ErrorKind::kMalformed,
                    fmt::format("line {}: {} cells, but the header has {}", line, row_.size(), table_.names_.size()));
      table_.lines_.push_back(line);
      table_.cells_.insert(table_.cells_.end(), row_.begin(), row_.end());
    }
    if (table_.rows() == 0)
      return Fail(ErrorKind::kMalformed, fmt::format("line {}: no row follows the header", line_));
    return std::move(table_);
  }

 private:
  using Cell = Table::Cell;

  Status SkipMark() {
    const std::string_view text = table_.text_;
    if (text.size() > std::numeric_limits<uint32_t>::max())
      return Fail(ErrorKind::kInvalid, "a table may have at most 4 GiB; use fewer rows");
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      return Fail(ErrorKind::kMalformed, "line 1: the text is UTF-16; save it as UTF-8");
    if (text.starts_with("\xef\xbb\xbf")) at_ = 3;
    return {};
  }

  Status ReadHeader() {
    if (!SkipEmptyLines()) return Fail(ErrorKind::kMalformed, "line 1: no header: the text is empty");
    const auto line = line_;
    KEPLER_CHECK_OK(ReadRow());
    for (const Cell& cell : row_)
      table_.names_.emplace_back(Trim(std::string_view(table_.text_).substr(cell.begin, cell.size)));
    KEPLER_CHECK_OK(CheckSeparators(line));
    std::vector<std::string_view> sorted(table_.names_.begin(), table_.names_.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
      return Fail(ErrorKind::kMalformed, fmt::format("line {}: two columns have the name '{}'", line, Shown(*twice)));
    return {};
  }

  /// Spreadsheets of many countries write semicolons, and old ones on a Mac end lines with CR alone.
  [[nodiscard]] Status CheckSeparators(size_t line) const {
    if (std::ranges::any_of(table_.names_, [](const std::string& name) { return name.contains('\r'); }))
      return Fail(ErrorKind::kMalformed, fmt::format("line {}: lines must end with LF or CR LF, not with CR", line));
    if (table_.names_.size() > 1) return {};
    for (const auto& [separator, shown] : {std::pair(';', "';'"), std::pair('\t', "tabs")})
      if (table_.names_.front().contains(separator))
        return Fail(ErrorKind::kMalformed,
                    fmt::format("line {}: the columns must be separated by ',', not by {}", line, shown));
    return {};
  }

  bool AtEnd() const { return at_ >= table_.text_.size(); }
  /// The bytes of the line end that begins here: 0, 1 or 2; at the end of the text a CR is one.
  size_t LineEnd(size_t at) const {
    const std::string_view rest = std::string_view(table_.text_).substr(at);
    if (rest.starts_with('\n') || rest == "\r") return 1;
    return rest.starts_with("\r\n") ? 2 : 0;
  }
  /// False at the end of the text.
  bool SkipEmptyLines() {
    while (!AtEnd()) {
      const size_t end = LineEnd(at_);
      if (end == 0) return true;
      at_ += end;
      ++line_;
    }
    return false;
  }

  /// Fills row_ and goes behind its line end.
  Status ReadRow() {
    row_.clear();
    while (true) {
      KEPLER_CHECK_OK(!AtEnd() && table_.text_[at_] == '"' ? ReadQuoted() : ReadPlain());
      if (table_.cells_.size() + row_.size() > max_cells_)
        return Fail(ErrorKind::kInvalid,
                    fmt::format("line {}: more than {} cells in all; use fewer rows or columns", line_, max_cells_));
      if (AtEnd()) return {};
      const size_t end = LineEnd(at_);
      at_ += std::max<size_t>(end, 1);
      if (end == 0) continue;  // it was a comma
      ++line_;
      return {};
    }
  }

  Status ReadPlain() {
    const std::string_view text = table_.text_;
    const size_t end = std::min(text.find_first_of(",\n\"", at_), text.size());
    if (end < text.size() && text[end] == '"') return FailCell("a quote inside a cell that does not begin with one");
    size_t size = end - at_;
    if (size > 0 && text[end - 1] == '\r' && LineEnd(end - 1) != 0) --size;
    Add(at_, size);
    at_ += size;
    return {};
  }

  Status ReadQuoted() {
    std::string& text = table_.text_;
    const auto line = line_;
    const size_t begin = ++at_;
    size_t out = begin;
    while (true) {
      if (AtEnd()) return FailCell(fmt::format("the quote opened in line {} is not closed", line));
      if (text[at_] == '"') {
        const bool doubled = at_ + 1 < text.size() && text[at_ + 1] == '"';
        if (!doubled) break;
        ++at_;
      }
      if (text[at_] == '\n') ++line_;
      text[out++] = text[at_++];
    }
    ++at_;
    if (!AtEnd() && text[at_] != ',' && LineEnd(at_) == 0) return FailCell("text follows the closing quote");
    Add(begin, out - begin);
    return {};
  }

  void Add(size_t begin, size_t size) {
    row_.push_back({.begin = static_cast<uint32_t>(begin), .size = static_cast<uint32_t>(size)});
  }

  std::unexpected<Error> FailCell(std::string_view why) const {
    const size_t column = row_.size();
    const auto& names = table_.names_;
    const auto name = column < names.size() ? fmt::format(" ('{}')", Shown(names[column])) : std::string();
    return Fail(ErrorKind::kMalformed, fmt::format("line {}, column {}{}: {}", line_, column + 1, name, why));
  }

  size_t max_cells_;
  Table table_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  std::vector<Cell> row_;
};

Result<Table> Table::ReadCsv(std::string text, size_t max_cells) {
  return CsvReader(std::move(text), max_cells).Read();
}

std::string_view Table::Text(size_t row, size_t column) const {
  const Cell& cell = cells_[row * names_.size() + column];
  return std::string_view(text_).substr(cell.begin, cell.size);
}

Result<std::optional<size_t>> Table::Find(std::string_view name) const {
  std::optional<size_t> found;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (model::CanonicalFeature(names_[i]) != model::CanonicalFeature(name)) continue;
    if (found)
      return Fail(ErrorKind::kMalformed, fmt::format("columns '{}' and '{}' are names of the same feature; remove one",
                                                     Shown(names_[*found]), Shown(names_[i])));
    found = i;
  }
  return found;
}

Result<std::vector<double>> Table::Numbers(size_t column) const { return Read(column, std::nullopt); }

Result<std::vector<double>> Table::NumbersAndGaps(size_t column) const {
  return Read(column, std::numeric_limits<double>::quiet_NaN());
}

Result<std::vector<double>> Table::Read(size_t column, std::optional<double> gap) const {
  std::vector<double> numbers;
  numbers.reserve(rows());
  for (size_t row = 0; row < rows(); ++row) {
    const auto text = Text(row, column);
    const bool is_empty = Trim(text).empty();
    const auto number = is_empty ? gap : FiniteNumber(text);
    if (!number) {
      const auto what = is_empty ? "the cell is empty" : fmt::format("'{}' is not a finite number", Shown(text));
      return Fail(ErrorKind::kMalformed,
                  fmt::format("line {}, column {} ('{}'): {}", lines_[row], column + 1, Shown(names_[column]), what));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::string_view> Table::Texts(size_t column) const {
  std::vector<std::string_view> texts;
  texts.reserve(rows());
  for (size_t row = 0; row < rows(); ++row) texts.push_back(Text(row, column));
  return texts;
}

}  // namespace kepler::lab::training
