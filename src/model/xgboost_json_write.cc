#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "json/document.h"
#include "model/xgboost_json.h"

namespace kepler::model {
namespace {

constexpr float kAlwaysLeft = std::numeric_limits<float>::max();
constexpr float kAlwaysRight = std::numeric_limits<float>::lowest();
constexpr uint32_t kNoParent = std::numeric_limits<int32_t>::max();

/// A value beyond the range of float becomes the largest or smallest float, because JSON has no infinity.
float Nearest(double value) { return static_cast<float>(std::clamp<double>(value, kAlwaysRight, kAlwaysLeft)); }

/// Threshold of the raw value for a threshold of the prepared value.
float RawThreshold(const Predictor& predictor, const Trees::Node& node) {
  double threshold = node.value;
  if (!predictor.scale.empty()) {
    const double scale = predictor.scale[node.feature];
    if (scale == 0) return threshold > 0 ? kAlwaysLeft : kAlwaysRight;
    threshold *= scale;
  }
  if (!predictor.limits.empty()) {
    const Range& range = predictor.limits[node.feature];
    if (threshold > range.max) return kAlwaysLeft;
    if (threshold <= range.min) return kAlwaysRight;
  }
  const float rounded = Nearest(threshold);
  return rounded < threshold ? std::nextafter(rounded, kAlwaysLeft) : rounded;
}

/// Adds the trees of `predictor`, times `weight`, for raw features.
Status AddTrees(const Predictor& predictor, double weight, double& base, Trees& to) {
  if (const auto* const blend = std::get_if<Blend>(&predictor.formula)) {
    for (size_t i = 0; i < blend->parts.size(); ++i)
      KEPLER_CHECK_OK(AddTrees(blend->parts[i], weight * blend->weights[i], base, to));
    return {};
  }
  const auto* const trees = std::get_if<Trees>(&predictor.formula);
  if (trees == nullptr) return Fail(ErrorKind::kInvalid, "XGBoost's format supports only trees and blends of trees");
  if (std::ranges::any_of(predictor.scale, [](double scale) { return scale < 0; }))
    return Fail(ErrorKind::kInvalid, "a negative scale reverses the splits, which is not supported");
  base += weight * trees->base;
  const auto first = static_cast<uint32_t>(to.nodes.size());
  for (const uint32_t root : trees->roots) to.roots.push_back(first + root);
  for (Trees::Node node : trees->nodes) {
    const bool is_leaf = node.left == 0;
    node.value = is_leaf ? Nearest(weight * node.value) : RawThreshold(predictor, node);
    if (!is_leaf) {
      node.left += first;
      node.right += first;
    }
    to.nodes.push_back(node);
  }
  return {};
}

/// XGBoost refuses a whole number ("5") where it expects another one.
std::string FloatText(float value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + "E0" : text;
}

/// `"key":[...]` of one tree.
template <class Show>
std::string Column(std::string_view key, size_t count, const Show& show) {
  std::string text;
  for (size_t i = 0; i < count; ++i) fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ",", show(i));
  return fmt::format(R"("{}":[{}],)", key, text);
}

std::string TreeText(const Trees& trees, size_t number, size_t features) {
  const uint32_t first = trees.roots[number];
  const size_t end = number + 1 < trees.roots.size() ? trees.roots[number + 1] : trees.nodes.size();
  const size_t count = end - first;
  std::vector<uint32_t> parents(count, kNoParent);
  std::vector<uint32_t> leaves(count, 1);  // as the cover: the rows of training are not known
  for (size_t i = count; i-- > 0;) {
    const Trees::Node& node = trees.nodes[first + i];
    if (node.left == 0) continue;
    leaves[i] = leaves[node.left - first] + leaves[node.right - first];
    parents[node.left - first] = parents[node.right - first] = static_cast<uint32_t>(i);
  }
  const auto at = [&](size_t i) -> const Trees::Node& { return trees.nodes[first + i]; };
  const auto child = [&](uint32_t index) { return index == 0 ? -1 : static_cast<int64_t>(index) - first; };
  return "{" + Column("base_weights", count, [&](size_t i) { return FloatText(at(i).left == 0 ? at(i).value : 0); }) +
         R"("categories":[],"categories_nodes":[],"categories_segments":[],"categories_sizes":[],)" +
         Column("default_left", count, [&](size_t i) { return at(i).missing_left ? 1 : 0; }) +
         fmt::format(R"("id":{},)", number) +
         Column("left_children", count, [&](size_t i) { return child(at(i).left); }) +
         Column("loss_changes", count, [](size_t) { return "0E0"; }) +
         Column("parents", count, [&](size_t i) { return parents[i]; }) +
         Column("right_children", count, [&](size_t i) { return child(at(i).right); }) +
         Column("split_conditions", count, [&](size_t i) { return FloatText(at(i).value); }) +
         Column("split_indices", count, [&](size_t i) { return at(i).feature; }) +
         Column("split_type", count, [](size_t) { return 0; }) +
         Column("sum_hessian", count, [&](size_t i) { return FloatText(static_cast<float>(leaves[i])); }) +
         fmt::format(
             R"("tree_param":{{"num_deleted":"0","num_feature":"{}","num_nodes":"{}","size_leaf_vector":"1"}}}})",
             features, count);
}

}  // namespace

Result<std::string> WriteXgboostJson(const PowerModel& model, const ComponentModel& component) {
  if (model.per != Per::kMachine)
    return Fail(ErrorKind::kInvalid, "the model is per core, which XGBoost's format cannot express");
  KEPLER_CHECK_OK(Check(component.predictor, model.features.size()));
  Trees trees;
  double base = 0;
  KEPLER_CHECK_OK(AddTrees(component.predictor, 1, base, trees));
  std::string texts;
  for (size_t i = 0; i < trees.roots.size(); ++i)
    texts += (i == 0 ? "" : ",\n") + TreeText(trees, i, model.features.size());
  const size_t count = trees.roots.size();
  std::string text = fmt::format(
      R"({{"learner":{{"attributes":{{}},"feature_names":{},"feature_types":[],"gradient_booster":{{"model":)"
      R"({{"gbtree_model_param":{{"num_parallel_tree":"1","num_trees":"{}"}},)",
      json::QuoteList(model.features), count);
  text += Column("iteration_indptr", count + 1, [](size_t i) { return i; });
  text += Column("tree_info", count, [](size_t) { return 0; });
  text += fmt::format("\"trees\":[\n{}]}},\"name\":\"gbtree\"}},", texts);
  text += fmt::format(R"("learner_model_param":{{"base_score":"{}","boost_from_average":"1","num_class":"0",)"
                      R"("num_feature":"{}","num_target":"1"}},)",
                      FloatText(Nearest(base)), model.features.size());
  return text +
         R"("objective":{"name":"reg:squarederror","reg_loss_param":{"scale_pos_weight":"1"}}},"version":[2,1,0]})"
         "\n";
}

}  // namespace kepler::model
