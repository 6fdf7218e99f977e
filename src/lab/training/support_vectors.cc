#include <libsvm/svm.h>

#include <memory>
#include <numeric>
#include <utility>

#include "lab/training/fits.h"

namespace kepler::lab::training {
namespace {

struct FreeModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};

/// libsvm's rows: index and value, from 1, ended by -1.
struct SvmRows {
  explicit SvmRows(const Matrix& matrix) {
    const size_t width = matrix.columns + 1;
    nodes.reserve(matrix.rows() * width);
    for (size_t i = 0; i < matrix.rows(); ++i) {
      int index = 0;
      for (const double value : matrix.row(i)) nodes.push_back({.index = ++index, .value = value});
      nodes.push_back({.index = -1, .value = 0});
    }
    for (size_t i = 0; i < matrix.rows(); ++i) rows.push_back(nodes.data() + i * width);
  }
  std::vector<svm_node> nodes;
  std::vector<svm_node*> rows;
};

/// 1 / (features × variance of all values); 1 where they do not vary.
double GammaByVariance(const Matrix& matrix) {
  const auto count = static_cast<double>(matrix.values.size());
  const double mean = std::accumulate(matrix.values.begin(), matrix.values.end(), 0.0) / count;
  double variance = 0;
  for (const double value : matrix.values) variance += (value - mean) * (value - mean) / count;
  return variance > 1e-24 ? 1 / (static_cast<double>(matrix.columns) * variance) : 1;
}

svm_parameter RadialRegression(double c, double epsilon, double gamma) {
  svm_parameter parameter{};
  parameter.svm_type = EPSILON_SVR;
  parameter.kernel_type = RBF;
  parameter.gamma = gamma;
  parameter.cache_size = 200;
  parameter.eps = 1e-3;
  parameter.C = c;
  parameter.p = epsilon;
  parameter.shrinking = 1;
  return parameter;
}

model::SupportVectors FormulaOf(const svm_model& model, const Matrix& scaled, double gamma) {
  model::SupportVectors formula{.gamma = gamma, .bias = -model.rho[0], .vectors = {}, .coefficients = {}};
  for (int i = 0; i < model.l; ++i) {
    const auto row = scaled.row(static_cast<size_t>(model.sv_indices[i] - 1));
    formula.vectors.insert(formula.vectors.end(), row.begin(), row.end());
    formula.coefficients.push_back(model.sv_coef[0][i]);
  }
  return formula;
}

}  // namespace

Result<model::Predictor> FitSupportVectors(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {{.name = "C", .fallback = 1, .min = 1e-6, .max = 1e6},
                                         {.name = "epsilon", .fallback = 0.2, .min = 0, .max = 1e6},
                                         {.name = "gamma", .fallback = 0, .min = 0, .max = 1e6}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  KEPLER_CHECK_OK(CheckSamples(samples));
  // libsvm prints to standard output by default; the pointer is shared by all threads.
  [[maybe_unused]] static const bool kQuiet = (svm_set_print_string_function([](const char*) {}), true);
  auto scale = MaxAbsScale(samples.features);
  const Matrix scaled = Scaled(samples.features, scale);
  const double gamma = parameters[2] > 0 ? parameters[2] : GammaByVariance(scaled);
  SvmRows rows(scaled);
  std::vector<double> labels = samples.labels;
  const svm_problem problem{.l = static_cast<int>(labels.size()), .y = labels.data(), .x = rows.rows.data()};
  const svm_parameter parameter = RadialRegression(parameters[0], parameters[1], gamma);
  if (const char* why = svm_check_parameter(&problem, &parameter); why != nullptr)
    return Fail(ErrorKind::kInvalid, why);
  const std::unique_ptr<svm_model, FreeModel> model(svm_train(&problem, &parameter));
  return Checked({.limits = {}, .scale = std::move(scale), .formula = FormulaOf(*model, scaled, gamma)}, samples);
}

}  // namespace kepler::lab::training
