#pragma once
// What is drawn of a model, and the figures of it. Pure.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/plot/chart.h"
#include "lab/plot/render.h"
#include "model/power_model.h"

namespace kepler::lab::judging {

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
};

/// Rows of about the same load.
struct LoadBand {
  double from = 0;  // watts
  double to = 0;
  model::Accuracy accuracy;
  size_t mape_rows = 0;  // that its MAPE is over
};

/// Ten of as many rows each, fewer where equal watts would be in two of them.
[[nodiscard]] std::vector<LoadBand> BandsOf(std::span<const double> measured, std::span<const double> predicted);

/// Of each model, in their order.
[[nodiscard]] std::vector<model::Accuracy> AccuracyOfAll(const Comparison& compared);

[[nodiscard]] plot::Page PageOf(const Comparison& compared);
/// The same figures as tables, and as one line of JSON for programs.
[[nodiscard]] std::vector<plot::Sheet> SheetsOf(const Comparison& compared);
[[nodiscard]] std::string PlotJson(const Comparison& compared, std::string_view output);

}  // namespace kepler::lab::judging
