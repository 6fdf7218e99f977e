#pragma once
// Tables of measurements as the commands need them. Errors name the file and the line or the column, and what to do.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/training/csv_table.h"
#include "lab/training/samples.h"
#include "model/power_model.h"

namespace kepler::lab::judging {

struct DataFile {
  std::string path;
  std::string sha256;
  training::Table table;
};

/// A column of watts, and what it says of the node.
struct Target {
  std::string column;
  model::Component component = model::Component::kPackage;
};

/// CSV from a file, a pipe or, for "-", standard input.
[[nodiscard]] Result<DataFile> ReadData(const std::string& path);

/// Items that have commas between them count as several; blanks around them do not count.
[[nodiscard]] std::vector<std::string> SplitItems(std::span<const std::string> given);

/// Each column with the component that `components` has at its place or, where that is empty, that its name says:
/// "package_power", "package_watts" and "package_dynamic_power" are package.
[[nodiscard]] Result<std::vector<Target>> ResolveTargets(std::span<const std::string> columns,
                                                         std::span<const std::string> components);
/// The same of one column; `component` may be empty.
[[nodiscard]] Result<Target> ResolveTarget(const std::string& column, const std::string& component);
/// `column`, or the column of dynamic power of the same component if the table has only that (isolate wrote it).
[[nodiscard]] std::string FindTarget(const DataFile& data, const std::string& column);
/// The component of the model in `path` that `target` is of; kInvalid if it has none.
[[nodiscard]] Result<const model::ComponentModel*> FindComponent(const std::string& path,
                                                                 const model::PowerModel& model, const Target& target);

/// Groups of features replaced by their features, names by today's, in the order of the list. None twice. Where a group
/// is called the same in several versions of Kepler, its first one counts.
[[nodiscard]] Result<std::vector<std::string>> ResolveFeatures(std::span<const std::string> given);
/// The same for a flag; none if it is not given.
[[nodiscard]] Result<std::vector<std::string>> GivenFeatures(std::span<const std::string> flag);
/// ResolveFeatures(), but of such groups the first that `data` has all columns of.
[[nodiscard]] Result<std::vector<std::string>> ResolveFeaturesOf(const DataFile& data,
                                                                 std::span<const std::string> given);

/// The column of that name, or of another age of it; an error suggests one that is there.
[[nodiscard]] Result<size_t> FindColumn(const DataFile& data, std::string_view name);
[[nodiscard]] Result<std::vector<double>> ReadNumbers(const DataFile& data, std::string_view column);
/// Of the column at that place; empty cells are NaN.
[[nodiscard]] Result<std::vector<double>> ReadGappy(const DataFile& data, size_t column);
/// As ReadNumbers(); none beyond training::kMaxWatts.
[[nodiscard]] Result<std::vector<double>> ReadWatts(const DataFile& data, std::string_view column);
/// A column that was read: all rows of it.
struct WattsColumn {
  std::string_view column;
  std::span<const double> values;
};
/// The rows in which no column is below 0 W, which no meter says. kMalformed where more than a tenth of the rows would
/// be left out: such a table is wrong elsewhere too.
[[nodiscard]] Result<std::vector<size_t>> RowsOfPower(const DataFile& data, std::span<const WattsColumn> columns);

/// The indices of all rows.
[[nodiscard]] std::vector<size_t> AllRows(const DataFile& data);

/// CSV of "row,prediction" or, of several components, of a column each. With `suffix` every column has the name of its
/// component and the suffix: "package_power". What `names` has for a row is as in the table's
/// column "row", or its index from 0 without such a column.
[[nodiscard]] std::vector<std::string> RowNames(const DataFile& data);
[[nodiscard]] std::string PredictionsCsv(std::span<const std::string> names, std::span<const size_t> rows,
                                         std::span<const Target> targets,
                                         std::span<const std::vector<double>> predictions,
                                         std::string_view suffix = {});

}  // namespace kepler::lab::judging
