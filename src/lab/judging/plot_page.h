#pragma once
// What is drawn of models: their predictions from files, the figures, and the page.
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
  std::vector<double> watts;  // of each row; NaN where there is none
};

/// "NAME=PATH", or a path that is its own name.
[[nodiscard]] Source SourceOf(std::string_view text);

/// A CSV file of row,prediction (of several components the column is that of the target's) is matched by row; else the
/// path is a model's, which predicts all rows. Rows that `data` does not have, or has twice, are an error.
[[nodiscard]] Status ReadSource(const DataFile& data, const Target& target, const Machines& machines, Source& source);
/// `source.path` is a model's, whatever it is called.
[[nodiscard]] Status PredictSource(const DataFile& data, const Target& target, const Machines& machines,
                                   Source& source);

/// Minutes from the first row if the table has seconds that do not decrease (`is_time`), else the number of the row.
[[nodiscard]] std::vector<double> TimesOf(const DataFile& data, bool& is_time);

/// Rows that are predicted by every model there is; the first of these is what the page is about.
struct Comparison {
  std::string title;
  std::string_view data;    // path
  std::string_view target;  // column
  size_t rows_of_data = 0;  // of all
  bool is_time = false;     // `when` is minutes from the first row, else the row's number
  std::vector<double> when;
  std::vector<double> measured;
  std::vector<std::string> names;              // of the models
  std::vector<std::vector<double>> predicted;  // by each of them
  std::string feature;                         // or none
  std::vector<double> feature_values;
  std::vector<Importance> importance;  // of the first model's features, or none
};

/// Rows of about the same load.
struct LoadBand {
  double from = 0;  // watts
  double to = 0;
  training::Errors errors;
};

/// Ten of as many rows each, fewer where equal watts would be in two of them.
[[nodiscard]] std::vector<LoadBand> BandsOf(std::span<const double> measured, std::span<const double> predicted);

/// Of each model, in their order.
[[nodiscard]] std::vector<training::Errors> ErrorsOfAll(const Comparison& compared);

[[nodiscard]] plot::Page PageOf(const Comparison& compared);
/// The same figures as tables, and as one line of JSON for programs.
[[nodiscard]] std::vector<plot::Sheet> SheetsOf(const Comparison& compared);
[[nodiscard]] std::string PlotJson(const Comparison& compared, std::string_view output);

}  // namespace kepler::lab::judging
