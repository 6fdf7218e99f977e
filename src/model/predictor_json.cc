#include "model/predictor_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/text.h"
#include "model/formula_names.h"

namespace kepler::model {
namespace {

using Keys = std::vector<std::string_view>;

Result<std::vector<double>> NumbersOf(const json::Cursor& object, std::string_view key) {
  KEPLER_TRY(const auto numbers, object.Numbers(key));
  return std::vector<double>(numbers.begin(), numbers.end());
}

Result<uint32_t> CountOf(const json::Cursor& object, std::string_view key) {
  KEPLER_TRY(const uint64_t count, object.Count(key));
  return static_cast<uint32_t>(count);
}

/// Reads whole numbers in the range of `T`.
template <class T>
Result<std::vector<T>> CountsOf(const json::Cursor& object, std::string_view key) {
  constexpr auto kMax = std::is_same_v<T, bool> ? 1.0 : static_cast<double>(std::numeric_limits<T>::max());
  KEPLER_TRY(const json::Cursor at, object.Member(key));
  KEPLER_TRY(const auto numbers, at.Numbers());
  std::vector<T> counts;
  counts.reserve(numbers.size());
  for (const double number : numbers) {
    if (!(number >= 0 && number <= kMax) || number != static_cast<double>(static_cast<uint32_t>(number)))
      return at.Refuse(fmt::format("[{}]: {} is not a whole number from 0 to {}", counts.size(), number, kMax));
    counts.push_back(static_cast<T>(number));
  }
  return counts;
}

/// Returns the index in `names` of the value in the file.
Result<size_t> ChoiceOf(const json::Cursor& object, std::string_view key, std::span<const std::string_view> names) {
  KEPLER_TRY(const json::Cursor at, object.Member(key));
  KEPLER_TRY(const auto name, at.Text());
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return at.Refuse(fmt::format("\"{}\" is not one of {}", EscapeControls(name.substr(0, 40)), fmt::join(names, ", ")));
}

Result<Formula> ReadFormula(Linear formula, const json::Cursor& object) {
  KEPLER_TRY(formula.bias, object.Number("bias"));
  KEPLER_TRY(formula.weights, NumbersOf(object, "weights"));
  return formula;
}

Result<Formula> ReadFormula(Polynomial formula, const json::Cursor& object) {
  KEPLER_TRY(formula.bias, object.Number("bias"));
  KEPLER_TRY(formula.weights, NumbersOf(object, "weights"));
  KEPLER_TRY(formula.products, NumbersOf(object, "products"));
  return formula;
}

Result<Formula> ReadFormula(Curve formula, const json::Cursor& object) {
  KEPLER_TRY(const size_t shape, ChoiceOf(object, "shape", kShapes));
  formula.shape = static_cast<Curve::Shape>(shape);
  KEPLER_TRY(formula.feature, CountOf(object, "feature"));
  KEPLER_TRY(const auto w, NumbersOf(object, "w"));
  if (w.size() != formula.w.size())
    return object.Refuse(fmt::format("w: {} numbers instead of {}", w.size(), formula.w.size()));
  std::ranges::copy(w, formula.w.begin());
  return formula;
}

Result<Formula> ReadFormula(Trees formula, const json::Cursor& object) {
  KEPLER_TRY(const double base, object.Number("base"));
  formula.base = static_cast<float>(base);
  KEPLER_TRY(formula.roots, CountsOf<uint32_t>(object, "roots"));
  KEPLER_TRY(const auto value, NumbersOf(object, "value"));
  KEPLER_TRY(const auto left, CountsOf<uint32_t>(object, "left"));
  KEPLER_TRY(const auto right, CountsOf<uint32_t>(object, "right"));
  KEPLER_TRY(const auto feature, CountsOf<uint16_t>(object, "feature"));
  KEPLER_TRY(const auto missing_left, CountsOf<bool>(object, "missing_left"));
  for (const size_t size : {left.size(), right.size(), feature.size(), missing_left.size()})
    if (size != value.size())
      return object.Refuse(
          fmt::format("the nodes have {} numbers in \"value\", but {} in another column", value.size(), size));
  formula.nodes.resize(value.size());
  for (size_t i = 0; i < value.size(); ++i)
    formula.nodes[i] = {static_cast<float>(value[i]), left[i], right[i], feature[i], missing_left[i]};
  return formula;
}

Result<Formula> ReadFormula(Neighbors formula, const json::Cursor& object) {
  KEPLER_TRY(formula.k, CountOf(object, "k"));
  KEPLER_TRY(formula.points, NumbersOf(object, "points"));
  KEPLER_TRY(formula.labels, NumbersOf(object, "labels"));
  return formula;
}

Result<Formula> ReadFormula(SupportVectors formula, const json::Cursor& object) {
  KEPLER_TRY(formula.gamma, object.Number("gamma"));
  KEPLER_TRY(formula.bias, object.Number("bias"));
  KEPLER_TRY(formula.vectors, NumbersOf(object, "vectors"));
  KEPLER_TRY(formula.coefficients, NumbersOf(object, "coefficients"));
  return formula;
}

/// The depth of the text limits the nesting of blends; Check() allows no nested blend.
Result<Formula> ReadFormula(Blend formula, const json::Cursor& object) {
  KEPLER_TRY(formula.weights, NumbersOf(object, "weights"));
  KEPLER_TRY(const auto elements, object.Elements("parts"));
  for (const json::Cursor& element : elements) {
    KEPLER_TRY(auto part, ReadPredictor(element));
    formula.parts.push_back(std::move(part));
  }
  return formula;
}

struct FormulaKind {
  Keys keys;
  Result<Formula> (*read)(const json::Cursor& object);
};
template <class T>
FormulaKind Kind(Keys keys) {
  for (const auto* const key : {"formula", "limits", "scale"}) keys.emplace_back(key);
  return {std::move(keys), [](const json::Cursor& object) { return ReadFormula(T(), object); }};
}

const FormulaKind& KindAt(size_t index) {
  static const FormulaKind kKinds[] = {
      Kind<Linear>({"bias", "weights"}),
      Kind<Polynomial>({"bias", "weights", "products"}),
      Kind<Curve>({"shape", "feature", "w"}),
      Kind<Trees>({"base", "roots", "value", "left", "right", "feature", "missing_left"}),
      Kind<Neighbors>({"k", "points", "labels"}),
      Kind<SupportVectors>({"gamma", "bias", "vectors", "coefficients"}),
      Kind<Blend>({"weights", "parts"}),
  };
  static_assert(std::size(kKinds) == std::variant_size_v<Formula>);
  return kKinds[index];
}

}  // namespace

Result<Range> ReadRange(const json::Cursor& pair) {
  KEPLER_TRY(const auto numbers, pair.Numbers());
  if (numbers.size() != 2) return pair.Refuse(fmt::format("{} numbers instead of [min, max]", numbers.size()));
  return Range{numbers[0], numbers[1]};
}

Result<std::vector<Range>> ReadRanges(const json::Cursor& object, std::string_view key) {
  std::vector<Range> ranges;
  KEPLER_TRY(const auto at, object.Find(key));
  if (!at) return ranges;
  KEPLER_TRY(const auto elements, at->Elements());
  for (const json::Cursor& element : elements) {
    KEPLER_TRY(const Range range, ReadRange(element));
    ranges.push_back(range);
  }
  return ranges;
}

Result<Predictor> ReadPredictor(const json::Cursor& object) {
  KEPLER_TRY(const size_t index, ChoiceOf(object, "formula", kFormulas));
  const FormulaKind& kind = KindAt(index);
  KEPLER_CHECK_OK(object.OnlyKeys(kind.keys));
  Predictor predictor;
  KEPLER_TRY(predictor.limits, ReadRanges(object, "limits"));
  KEPLER_TRY(const auto scale, object.Find("scale"));
  if (scale) {
    KEPLER_TRY(predictor.scale, NumbersOf(object, "scale"));
  }
  KEPLER_TRY(predictor.formula, kind.read(object));
  return predictor;
}

}  // namespace kepler::model
