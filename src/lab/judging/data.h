#pragma once
// Reads tables of measurements for the commands. Errors name the file, the line or the column, and the remedy.
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

/// A column of watts and its component.
struct Target {
  std::string column;
  model::Component component = model::Component::kPackage;
};

/// Reads CSV from a file or a pipe; "-" is standard input.
[[nodiscard]] Result<DataFile> ReadData(const std::string& path);

/// Splits items at commas, and removes blanks around them.
[[nodiscard]] std::vector<std::string> SplitItems(std::span<const std::string> given);

/// Returns each column with its component: the item of `components` with the same index. If `components` is empty, the
/// name gives the component: package for "package_power", "package_watts" and "package_dynamic_power".
[[nodiscard]] Result<std::vector<Target>> ResolveTargets(std::span<const std::string> columns,
                                                         std::span<const std::string> components);
/// The same for one column; `component` may be empty.
[[nodiscard]] Result<Target> ResolveTarget(const std::string& column, const std::string& component);
/// Returns `column`. If the table has only the column of dynamic power (written by isolate), returns that column.
[[nodiscard]] std::string FindTarget(const DataFile& data, const std::string& column);
/// Returns the component of the model in `path` that predicts `target`; kInvalid if there is none.
[[nodiscard]] Result<const model::ComponentModel*> FindComponent(const std::string& path,
                                                                 const model::PowerModel& model, const Target& target);

/// Replaces feature groups by their features, and old names by current names. Keeps the order and removes duplicates.
/// If several versions of Kepler have a group of the same name, the first one counts.
[[nodiscard]] Result<std::vector<std::string>> ResolveFeatures(std::span<const std::string> given);
/// The same for a flag; empty if the flag is not set.
[[nodiscard]] Result<std::vector<std::string>> GivenFeatures(std::span<const std::string> flag);
/// As ResolveFeatures(), but of groups with the same name the first one counts whose columns are all in `data`.
[[nodiscard]] Result<std::vector<std::string>> ResolveFeaturesOf(const DataFile& data,
                                                                 std::span<const std::string> given);

/// Finds a column by its current or old name. The error suggests a similar column of the table.
[[nodiscard]] Result<size_t> FindColumn(const DataFile& data, std::string_view name);
[[nodiscard]] Result<std::vector<double>> ReadNumbers(const DataFile& data, std::string_view column);
/// Reads the numbers of a column; empty cells are NaN.
[[nodiscard]] Result<std::vector<double>> ReadGappy(const DataFile& data, size_t column);
/// Reads a column of watts. kMalformed for an empty cell, and for a number above training::kMaxWatts.
[[nodiscard]] Result<std::vector<double>> ReadWatts(const DataFile& data, std::string_view column);
/// All rows of a column of watts.
struct WattsColumn {
  std::string_view column;
  std::span<const double> values;
};
/// Returns the rows without negative watts, because no meter gives negative watts. kMalformed if that would remove more
/// than a tenth of the rows: such a table has other errors, too.
[[nodiscard]] Result<std::vector<size_t>> RowsOfPower(const DataFile& data, std::span<const WattsColumn> columns);

/// The indices of all rows.
[[nodiscard]] std::vector<size_t> AllRows(const DataFile& data);

/// Writes CSV: "row,prediction", or one column per component if there are several. With `suffix`, each column has the
/// name of its component and the suffix: "package_power". `names` come from the column "row" of the table; without this
/// column, from the index of the row, which starts at 0.
[[nodiscard]] std::vector<std::string> RowNames(const DataFile& data);
[[nodiscard]] std::string PredictionsCsv(std::span<const std::string> names, std::span<const size_t> rows,
                                         std::span<const Target> targets,
                                         std::span<const std::vector<double>> predictions,
                                         std::string_view suffix = {});

}  // namespace kepler::lab::judging
