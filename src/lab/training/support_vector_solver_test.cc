#include "lab/training/support_vector_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace kepler::lab::training {
namespace {

using ::testing::ElementsAre;

struct Problem {
  Matrix rows;
  std::vector<double> labels;
};

Problem Noisy(size_t rows) {
  Problem problem{.rows = {.columns = 2, .values = {}}, .labels = {}};
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same rows each time
  const auto draw = [&] { return static_cast<double>(random() % 1000) / 1000; };
  for (size_t i = 0; i < rows; ++i) {
    const double x = draw();
    const double y = draw();
    problem.rows.values.insert(problem.rows.values.end(), {x, y});
    problem.labels.push_back(10 * std::sin(3 * x) + 5 * y + 2 * draw());
  }
  return problem;
}

double Predicted(const Problem& problem, const SupportVectorSolution& solution, double gamma, size_t row) {
  double watts = solution.bias;
  for (size_t i = 0; i < problem.labels.size(); ++i) {
    double distance = 0;
    for (size_t j = 0; j < problem.rows.columns; ++j)
      distance += std::pow(problem.rows.row(row)[j] - problem.rows.row(i)[j], 2);
    watts += solution.coefficients[i] * std::exp(-gamma * distance);
  }
  return watts;
}

/// The conditions of Karush, Kuhn and Tucker for each row.
void ExpectOptimal(const Problem& problem, const RadialRegression& how) {
  const auto solution = SolveSupportVectors(problem.rows, problem.labels, how);
  EXPECT_NEAR(std::reduce(solution.coefficients.begin(), solution.coefficients.end()), 0, 1e-9);
  for (size_t row = 0; row < problem.labels.size(); ++row) {
    const double coefficient = solution.coefficients[row];
    const double rest = problem.labels[row] - Predicted(problem, solution, how.gamma, row);
    EXPECT_LE(std::abs(coefficient), how.c);
    if (std::abs(coefficient) < how.c) {
      EXPECT_LE(std::abs(rest), how.epsilon + 0.002) << row;
    }
    if (coefficient > 0) {
      EXPECT_GE(rest, how.epsilon - 0.002) << row;
    }
    if (coefficient < 0) {
      EXPECT_LE(rest, -how.epsilon + 0.002) << row;
    }
  }
}

TEST(SolveSupportVectors, ConditionsOfTheOptimumHold) {
  const Problem problem = Noisy(80);
  for (const double c : {0.1, 1.0, 100.0})
    for (const double epsilon : {0.0, 0.2, 3.0}) ExpectOptimal(problem, {.c = c, .epsilon = epsilon, .gamma = 2});
}

TEST(SolveSupportVectors, FewKernelRowsInMemory_GiveTheSameSolution) {
  const Problem problem = Noisy(50);
  const RadialRegression how{.c = 1000, .epsilon = 0.2, .gamma = 2};
  RadialRegression three = how;
  three.max_kernel_bytes = 3 * 50 * sizeof(float);
  RadialRegression none = how;
  none.max_kernel_bytes = 0;
  const auto all = SolveSupportVectors(problem.rows, problem.labels, how);
  EXPECT_EQ(SolveSupportVectors(problem.rows, problem.labels, three).coefficients, all.coefficients);
  EXPECT_EQ(SolveSupportVectors(problem.rows, problem.labels, none).coefficients, all.coefficients);
}

TEST(SolveSupportVectors, EqualRows_EndBetweenTheirLabels) {
  const auto solution = SolveSupportVectors({.columns = 1, .values = {1, 1}}, std::vector<double>{0, 10}, {.c = 2});
  EXPECT_THAT(solution.coefficients, ElementsAre(-2, 2));
  EXPECT_DOUBLE_EQ(solution.bias, 5);
}

TEST(SolveSupportVectors, OneRow_IsTheBias) {
  const auto solution = SolveSupportVectors({.columns = 1, .values = {1}}, std::vector<double>{42}, {.epsilon = 0.5});
  EXPECT_THAT(solution.coefficients, ElementsAre(0));
  EXPECT_DOUBLE_EQ(solution.bias, 42);
}

}  // namespace
}  // namespace kepler::lab::training
