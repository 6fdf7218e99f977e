#include "model/xgboost_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/parse.h"
#include "json/document.h"
#include "model/features.h"

namespace kepler::model {
namespace {

constexpr size_t kMaxTrees = 100'000;
constexpr size_t kMaxNodes = 10'000'000;

/// Objectives with the raw score as prediction (ObjFunction::PredTransform in XGBoost's src/objective/). reg:linear is
/// the old name of the first objective.
constexpr std::string_view kObjectives[] = {"reg:squarederror",  "reg:linear",           "reg:squaredlogerror",
                                            "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror"};

/// Reads a number in XGBoost's form of parameters, which is text: "num_feature": "3".
Result<uint64_t> CountText(const json::Cursor& object, std::string_view key, uint64_t most) {
  KEPLER_TRY(const json::Cursor at, object.Member(key));
  KEPLER_TRY(const std::string_view text, at.Text());
  const auto number = ParseNumber<uint64_t>(text);
  if (!number || *number > most) return at.Refuse(fmt::format("\"{:.40}\" is not a number from 0 to {}", text, most));
  return *number;
}

/// If the key exists, its value must be at most `most`.
Status AtMost(const json::Cursor& object, std::string_view key, uint64_t most, std::string_view why) {
  KEPLER_TRY(const auto at, object.Find(key));
  if (!at) return {};
  KEPLER_TRY(const uint64_t number, CountText(object, key, std::numeric_limits<uint32_t>::max()));
  if (number > most) return at->Refuse(fmt::format("{}: {}", number, why));
  return {};
}

/// Reads "5E-1", or since version 3.1 "[5E-1]".
Result<float> BaseScore(const json::Cursor& parameters) {
  KEPLER_TRY(const json::Cursor at, parameters.Member("base_score"));
  KEPLER_TRY(std::string_view text, at.Text());
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const auto number = ParseNumber<float>(text);
  if (!number || !std::isfinite(*number)) return at.Refuse(fmt::format("\"{:.40}\" is not a finite number", text));
  return *number;
}

Status CheckKind(const json::Cursor& learner) {
  KEPLER_TRY(const json::Cursor objective, learner.Member("objective"));
  KEPLER_TRY(const json::Cursor objective_name, objective.Member("name"));
  KEPLER_TRY(const std::string_view goal, objective_name.Text());
  if (std::ranges::find(kObjectives, goal) == std::end(kObjectives))
    return objective_name.Refuse(fmt::format("\"{:.40}\" does not predict watts directly; train with one of {}", goal,
                                             fmt::join(kObjectives, ", ")));
  KEPLER_TRY(const json::Cursor booster, learner.Member("gradient_booster"));
  KEPLER_TRY(const json::Cursor booster_name, booster.Member("name"));
  KEPLER_TRY(const std::string_view kind, booster_name.Text());
  if (kind != "gbtree") return booster_name.Refuse(fmt::format("\"{:.40}\" is not supported; use gbtree", kind));
  KEPLER_TRY(const json::Cursor parameters, learner.Member("learner_model_param"));
  KEPLER_CHECK_OK(AtMost(parameters, "num_class", 1, "classes; a model of watts has none"));
  return AtMost(parameters, "num_target", 1, "outputs; a model of watts has one");
}

/// The columns of one tree, all with the same length.
struct Columns {
  std::span<const double> left, right, feature, value, missing_left;
};

Result<Columns> ReadColumns(const json::Cursor& tree) {
  Columns columns;
  const std::array<std::pair<std::string_view, std::span<const double>*>, 5> named = {
      {{"left_children", &columns.left},
       {"right_children", &columns.right},
       {"split_indices", &columns.feature},
       {"split_conditions", &columns.value},
       {"default_left", &columns.missing_left}}};
  for (const auto& [key, column] : named) {
    KEPLER_TRY(const json::Cursor at, tree.Member(key));
    KEPLER_TRY(*column, at.Numbers());
    if (column->size() != columns.left.size())
      return at.Refuse(fmt::format("{} values, but left_children has {}", column->size(), columns.left.size()));
  }
  if (columns.left.empty()) return tree.Refuse("it has no nodes");
  KEPLER_TRY(const auto types, tree.Find("split_type"));
  if (!types) return columns;
  KEPLER_TRY(const auto split_type, types->Numbers());
  if (std::ranges::any_of(split_type, [](double type) { return type != 0; }))
    return types->Refuse("categorical splits are not supported; train on numerical features only");
  return columns;
}

/// Copies one tree to the end of `trees`, in the order of a walk from its root. Children therefore come after their
/// parent. Unreachable (pruned) nodes are left out.
class TreeCopier {
 public:
  TreeCopier(const json::Cursor& at, const Columns& from, size_t features, Trees& to)
      : at_(at), from_(from), features_(features), to_(to), seen_(from.left.size()) {}

  Status Run() {
    to_.roots.push_back(static_cast<uint32_t>(to_.nodes.size()));
    KEPLER_CHECK_OK(Add(0));
    while (!open_.empty()) {
      const Open open = open_.back();
      open_.pop_back();
      to_.nodes[open.copy].left = static_cast<uint32_t>(to_.nodes.size());
      KEPLER_CHECK_OK(Add(from_.left[open.original]));
      to_.nodes[open.copy].right = static_cast<uint32_t>(to_.nodes.size());
      KEPLER_CHECK_OK(Add(from_.right[open.original]));
    }
    return {};
  }

 private:
  struct Open {
    size_t original, copy;
  };

  /// Adds the node `number` of the file. Its children follow later.
  Status Add(double number) {
    if (!(number >= 0 && number < static_cast<double>(seen_.size())) || number != std::floor(number))
      return at_.Refuse(fmt::format("a child {}, but its nodes are 0 to {}", number, seen_.size() - 1));
    const auto i = static_cast<size_t>(number);
    if (seen_[i]) return at_.Refuse(fmt::format("node {} has two parents", i));
    seen_[i] = true;
    const auto value = static_cast<float>(from_.value[i]);
    if (!std::isfinite(value))
      return at_.Refuse(fmt::format("the split condition {} of node {} is not finite", from_.value[i], i));
    if (to_.nodes.size() == kMaxNodes) return at_.Refuse(fmt::format("more than {} nodes in all trees", kMaxNodes));
    Trees::Node node{.value = value};
    const bool leaf = from_.left[i] == -1;
    if (leaf != (from_.right[i] == -1)) return at_.Refuse(fmt::format("node {} has only one child", i));
    if (!leaf) {
      const double feature = from_.feature[i];
      if (!(feature >= 0 && feature < static_cast<double>(features_)) || feature != std::floor(feature))
        return at_.Refuse(fmt::format("node {} splits by feature {}, but there are {}", i, feature, features_));
      node.feature = static_cast<uint16_t>(feature);
      node.missing_left = from_.missing_left[i] != 0;
      open_.push_back({i, to_.nodes.size()});
    }
    to_.nodes.push_back(node);
    return {};
  }

  const json::Cursor& at_;
  const Columns& from_;
  const size_t features_;
  Trees& to_;
  std::vector<bool> seen_;
  std::vector<Open> open_;
};

Status ReadTree(const json::Cursor& tree, size_t features, Trees& trees) {
  KEPLER_TRY(const auto parameters, tree.Find("tree_param"));
  if (parameters)
    KEPLER_CHECK_OK(AtMost(*parameters, "size_leaf_vector", 1, "values in a leaf; a model of watts has one"));
  KEPLER_TRY(const Columns columns, ReadColumns(tree));
  return TreeCopier(tree, columns, features, trees).Run();
}

Result<std::vector<std::string>> ReadNames(const json::Cursor& learner, size_t features) {
  std::vector<std::string> names;
  KEPLER_TRY(const auto at, learner.Find("feature_names"));
  if (!at) return names;
  KEPLER_TRY(names, at->Texts());
  if (!names.empty() && names.size() != features)
    return at->Refuse(fmt::format("{} names for {} features", names.size(), features));
  return names;
}

}  // namespace

Result<XgboostModel> ReadXgboostJson(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  return ReadXgboostJson(document);
}

Result<XgboostModel> ReadXgboostJson(const json::Value& document) {
  KEPLER_TRY(const json::Cursor learner, json::Cursor(document).Member("learner"));
  KEPLER_CHECK_OK(CheckKind(learner));
  XgboostModel result;
  KEPLER_TRY(const json::Cursor parameters, learner.Member("learner_model_param"));
  KEPLER_TRY(result.feature_count, CountText(parameters, "num_feature", kMaxFeatures));
  KEPLER_TRY(result.trees.base, BaseScore(parameters));
  KEPLER_TRY(result.features, ReadNames(learner, result.feature_count));
  KEPLER_TRY(const json::Cursor booster, learner.Member("gradient_booster"));
  KEPLER_TRY(const json::Cursor model, booster.Member("model"));
  KEPLER_TRY(const auto info, model.Find("tree_info"));
  if (info) {
    KEPLER_TRY(const auto groups, info->Numbers());
    if (std::ranges::any_of(groups, [](double group) { return group != 0; }))
      return info->Refuse("trees of several outputs; a model of watts has one");
  }
  KEPLER_TRY(const json::Cursor list, model.Member("trees"));
  KEPLER_TRY(const auto trees, list.Elements());
  if (trees.size() > kMaxTrees) return list.Refuse(fmt::format("{} trees; {} at most", trees.size(), kMaxTrees));
  for (const json::Cursor& tree : trees) KEPLER_CHECK_OK(ReadTree(tree, result.feature_count, result.trees));
  return result;
}

}  // namespace kepler::model
