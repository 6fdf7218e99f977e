#pragma once
// For tests: texts of weight files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "model/weights_json.h"

namespace kepler::model {

inline PowerModel ReadWeights(std::string_view text, std::string_view name) {
  auto model = ReadWeightsJson(text, name);
  EXPECT_TRUE(model) << model.error().message;
  return model ? *std::move(model) : PowerModel();
}

inline std::string Linear2(std::string_view component, double bias, double scale, double weight) {
  return fmt::format(
      R"("{}": {{"All_Weights": {{"Bias_Weight": {}, "Categorical_Variables": {{}}, "Numerical_Variables":
      {{"bpf_cpu_time_ms": {{"scale": {}, "weight": {}}}, "bpf_page_cache_hit": {{"scale": 1.0, "weight": 0.0}}}}}}}})",
      component, bias, scale, weight);
}

inline std::string CurveFile(std::string_view component, std::string_view features, std::string_view w) {
  return fmt::format(
      R"({{"{}": {{"All_Weights": {{"Categorical_Variables": {{}}, "Numerical_Variables": {{{}}},
          "CurveFit_Weights": {}}}}}}})",
      component, features, w);
}
inline constexpr std::string_view kOneFeature = R"("bpf_cpu_time_ms": {"scale": 1})";
inline constexpr std::string_view kCounters =
    R"("cache_miss": {"scale": 1}, "cpu_cycles": {"scale": 1}, "cpu_instructions": {"scale": 1})";

}  // namespace kepler::model
