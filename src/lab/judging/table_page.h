#pragma once
// The page of a table of measurements without any model: power and features over time, and power by feature. No I/O.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"
#include "lab/plot/chart.h"
#include "lab/plot/render.h"

namespace kepler::lab::judging {

/// A column of the table; NaN where a cell is empty.
struct Column {
  std::string name;
  std::vector<double> values;
};

struct TablePage {
  std::string title;
  std::string_view data;  // path
  bool is_time = false;   // as in Comparison
  std::vector<double> when;
  std::vector<Column> watts;  // the first is shown by feature
  std::vector<Column> features;
};

/// Columns of the watts of components, each component once.
[[nodiscard]] std::vector<std::string> ColumnsOfWatts(const DataFile& data);

/// `target` is the first of the watts; `feature`: only that one, else those of the feature groups. kInvalid without any
/// column of watts, or for a column without any number.
[[nodiscard]] Result<TablePage> ReadTablePage(const DataFile& data, const std::string& target,
                                              const std::string& feature);
[[nodiscard]] plot::Page PageOf(const TablePage& table);
/// Minimum, mean and maximum of each column.
[[nodiscard]] std::vector<plot::Sheet> SheetsOf(const TablePage& table);
[[nodiscard]] std::string PlotJson(const TablePage& table, std::string_view output);

}  // namespace kepler::lab::judging
