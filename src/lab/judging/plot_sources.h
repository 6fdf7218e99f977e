#pragma once
// What is compared with what was measured: predictions from a file, or of a model. No drawing.
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/judging/data.h"

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
[[nodiscard]] Status ReadSource(const DataFile& data, const Target& target, Source& source);
/// `source.path` is a model's, whatever it is called.
[[nodiscard]] Status PredictSource(const DataFile& data, const Target& target, Source& source);

}  // namespace kepler::lab::judging
