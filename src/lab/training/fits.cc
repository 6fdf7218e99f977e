#include "lab/training/fits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/features.h"

namespace kepler::lab::training {
namespace {

std::string NamesOf(std::span<const Parameter> known) {
  if (known.empty()) return "none";
  std::vector<std::string> names;
  for (const Parameter& parameter : known) names.push_back(fmt::format("{}={:g}", parameter.name, parameter.fallback));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<std::vector<double>> ReadParameters(const TrainerOptions& options, std::span<const Parameter> known) {
  std::vector<double> values;
  for (const Parameter& parameter : known) values.push_back(parameter.fallback);
  for (const auto& [name, value] : options.parameters) {
    const auto found = std::ranges::find(known, std::string_view(name), &Parameter::name);
    if (found == known.end())
      return Fail(ErrorKind::kInvalid,
                  fmt::format("unknown parameter '{}'{}{}", name, kKnownParameters, NamesOf(known)));
    const bool inside = value >= found->min && value <= found->max;  // false for NaN
    if (!inside || (found->whole && value != std::floor(value)))
      return Fail(ErrorKind::kInvalid, fmt::format("parameter '{}' is {}; it must be a {} from {} to {}", name, value,
                                                   found->whole ? "whole number" : "number", found->min, found->max));
    values[static_cast<size_t>(found - known.begin())] = value;
  }
  return values;
}

Status CheckSamples(const Samples& samples) {
  const Matrix& features = samples.features;
  if (features.columns == 0 || features.columns > model::kMaxFeatures)
    return Fail(ErrorKind::kInvalid,
                fmt::format("a model has 1 to {} features, not {}", model::kMaxFeatures, features.columns));
  if (samples.labels.empty()) return Fail(ErrorKind::kInvalid, std::string(kNoRows));
  if (features.values.size() != samples.labels.size() * features.columns)
    return Fail(ErrorKind::kInvalid, fmt::format("{} labels for {} values of {} features", samples.labels.size(),
                                                 features.values.size(), features.columns));
  for (size_t i = 0; i < features.values.size(); ++i) {
    if (!std::isfinite(features.values[i]))
      return Fail(ErrorKind::kInvalid,
                  fmt::format("row {}, feature {}: not finite", i / features.columns, i % features.columns));
  }
  for (size_t i = 0; i < samples.labels.size(); ++i) {
    const bool usable = std::abs(samples.labels[i]) <= kMaxWatts;  // false for NaN
    if (!usable) return Fail(ErrorKind::kInvalid, fmt::format("row {}: {} W is impossible", i, samples.labels[i]));
  }
  return {};
}

std::vector<double> MaxAbsScale(const Matrix& matrix) {
  std::vector<double> scale(matrix.columns, 0);
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const auto row = matrix.row(i);
    for (size_t j = 0; j < row.size(); ++j) scale[j] = std::max(scale[j], std::abs(row[j]));
  }
  return scale;
}

std::vector<model::Range> RangesOf(const Matrix& matrix) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<model::Range> ranges(matrix.columns, {.min = kInfinity, .max = -kInfinity});
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const auto row = matrix.row(i);
    for (size_t j = 0; j < row.size(); ++j)
      ranges[j] = {.min = std::min(ranges[j].min, row[j]), .max = std::max(ranges[j].max, row[j])};
  }
  return ranges;
}

Matrix Scaled(Matrix matrix, std::span<const double> scale) {
  for (size_t i = 0; i < matrix.values.size(); ++i) {
    const double divisor = scale[i % matrix.columns];
    matrix.values[i] = divisor == 0 ? 0 : matrix.values[i] / divisor;
  }
  return matrix;
}

Result<model::Predictor> Checked(model::Predictor predictor, const Samples& samples) {
  if (const auto status = model::Check(predictor, samples.features.columns); !status)
    return Fail(ErrorKind::kInvalid, "the fit overflowed: " + status.error().message);
  return predictor;
}

}  // namespace kepler::lab::training
