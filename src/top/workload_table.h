#pragma once
// WorkloadTable: the workloads as a table that fits the screen. A wider screen shows more columns. Pure.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "top/keys.h"
#include "top/look.h"
#include "top/readings.h"
#include "top/text_cells.h"
#include "top/view.h"

namespace kepler::top {

class WorkloadTable {
 public:
  /// `readings` must outlive the table. `width`: SIZE_MAX for a table without limit.
  WorkloadTable(const Readings& readings, Sort sort, size_t width, const Look& look);

  [[nodiscard]] std::string Header() const;
  [[nodiscard]] std::string Row(size_t index) const;
  /// Columns of the screen in which a click on the header sorts.
  [[nodiscard]] std::vector<SortArea> Areas() const;

 private:
  struct Column {
    std::string title;
    Side side;
    size_t width;  // of a column of numbers; 0: a text column, which FitTexts() sets
    std::function<std::string(const WorkloadReading&)> text;
    std::optional<Sort> sort{};
  };
  void AddFigures(Level level);
  void AddTexts(Level level);
  void AddText(std::string_view title, size_t from_width, std::string WorkloadReading::* text);
  /// Divides the columns that the numbers leave among the texts.
  void FitTexts();

  const Readings& readings_;
  const Sort sort_;
  const size_t width_;
  const Look look_;
  std::vector<Column> columns_;
};

}  // namespace kepler::top
