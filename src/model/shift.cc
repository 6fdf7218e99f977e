#include "model/shift.h"

#include <cmath>
#include <variant>
#include <vector>

namespace kepler::model {
namespace {

struct Shift {
  std::span<const double> by;

  Status operator()(Linear& linear) const {
    for (size_t i = 0; i < by.size(); ++i) linear.bias += linear.weights[i] * by[i];
    return {};
  }
  Status operator()(Polynomial& polynomial) const {
    const std::vector<double> weights = polynomial.weights;
    size_t product = 0;
    for (size_t i = 0; i < by.size(); ++i) {
      polynomial.bias += weights[i] * by[i];
      for (size_t j = i; j < by.size(); ++j) {
        const double factor = polynomial.products[product++];
        polynomial.bias += factor * by[i] * by[j];
        polynomial.weights[i] += factor * by[j];
        polynomial.weights[j] += factor * by[i];
      }
    }
    return {};
  }
  Status operator()(Trees& trees) const {
    for (auto& node : trees.nodes) {
      if (node.left == 0) continue;
      const double threshold = node.value - by[node.feature];
      node.value = static_cast<float>(threshold);
      if (node.value < threshold) node.value = std::nextafter(node.value, INFINITY);
    }
    return {};
  }
  Status operator()(Neighbors& neighbors) const { return Rows(neighbors.points); }
  Status operator()(SupportVectors& machine) const { return Rows(machine.vectors); }
  Status operator()(auto&) const { return Fail(ErrorKind::kInvalid, "features of this formula cannot be shifted"); }

 private:
  Status Rows(std::vector<double>& rows) const {
    for (size_t i = 0; i < rows.size(); ++i) rows[i] -= by[i % by.size()];
    return {};
  }
};

}  // namespace

Status ShiftFeatures(std::span<const double> shift, Predictor& predictor) {
  return std::visit(Shift{shift}, predictor.formula);
}

}  // namespace kepler::model
