#pragma once
// The page of plots of models: reads predictions, computes figures, and makes the page.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"
#include "lab/judging/importance.h"
#include "lab/judging/inputs.h"
#include "lab/plot/chart.h"
#include "lab/plot/render.h"
#include "lab/training/validation.h"

namespace kepler::lab::judging {

/// Predictions of one model for the rows of the table.
struct Source {
  std::string name;
  std::string path;
  std::vector<double> watts;  // one per row; NaN: no prediction
};

/// "NAME=PATH", or a path that is its own name.
[[nodiscard]] Source SourceOf(std::string_view text);

/// Reads a CSV file of row,prediction (or with one column per component) and matches it by row. Any other path is that
/// of a model, which predicts all rows. Error: a row of the file is missing in `data`, or `data` has it twice.
[[nodiscard]] Status ReadSource(const DataFile& data, const Target& target, const Machines& machines, Source& source);
/// As ReadSource(), but `source.path` is always a model.
[[nodiscard]] Status PredictSource(const DataFile& data, const Target& target, const Machines& machines,
                                   Source& source);

/// Minutes from the first row if the table has seconds that do not decrease (`is_time`), else the number of the row.
[[nodiscard]] std::vector<double> TimesOf(const DataFile& data, bool& is_time);

/// Rows for which every model has a prediction. The first model is the subject of the page.
struct Comparison {
  std::string title;
  std::string_view data;    // path
  std::string_view target;  // column
  size_t rows_of_data = 0;  // number of all rows of the table
  bool is_time = false;     // `when` is minutes from the first row, else the row's number
  std::vector<double> when;
  std::vector<double> measured;
  std::vector<std::string> names;              // of the models
  std::vector<std::vector<double>> predicted;  // by each of them
  std::string feature;                         // "": none
  std::vector<double> feature_values;
  std::vector<Importance> importance;  // of the first model's features; may be empty
};

/// Rows of about the same load.
struct LoadBand {
  double from = 0;  // watts
  double to = 0;
  training::Errors errors;
};

/// Returns ten bands with equally many rows; fewer, if equal watts would be in two bands.
[[nodiscard]] std::vector<LoadBand> BandsOf(std::span<const double> measured, std::span<const double> predicted);

/// Returns the errors of each model, in their order.
[[nodiscard]] std::vector<training::Errors> ErrorsOfAll(const Comparison& compared);

[[nodiscard]] plot::Page PageOf(const Comparison& compared);
/// The same figures as tables, and as one line of JSON for programs.
[[nodiscard]] std::vector<plot::Sheet> SheetsOf(const Comparison& compared);
[[nodiscard]] std::string PlotJson(const Comparison& compared, std::string_view output);

}  // namespace kepler::lab::judging
