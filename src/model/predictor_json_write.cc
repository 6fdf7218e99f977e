#include <fmt/format.h>

#include <concepts>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "base/parse.h"
#include "model/formula_names.h"
#include "model/predictor_json.h"

namespace kepler::model {
namespace {

void Write(double number, std::string& out) { fmt::format_to(std::back_inserter(out), "{}", number); }

/// Writes the shortest text of the float, which is half as long as the double's. A reader of doubles rounds twice. If
/// it would read the float's neighbour, the text of the double is written.
void Write(float number, std::string& out) {
  const std::string text = fmt::format("{}", number);
  if (const auto read = ParseNumber<double>(text); read && static_cast<float>(*read) == number)
    out += text;
  else
    Write(static_cast<double>(number), out);
}

void Write(std::integral auto number, std::string& out) { out += std::to_string(number); }

template <class T>
void WriteKey(std::string_view key, T number, std::string& out) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":", key);
  Write(number, out);
}

/// Writes `,"key":[1,2]`.
template <class Items, class Projection = std::identity>
void WriteList(std::string_view key, const Items& items, std::string& out, Projection projection = {}) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":[", key);
  for (bool first = true; const auto& item : items) {
    if (!std::exchange(first, false)) out += ',';
    Write(std::invoke(projection, item), out);
  }
  out += ']';
}

void WriteFormula(const Linear& formula, std::string& out) {
  WriteKey("bias", formula.bias, out);
  WriteList("weights", formula.weights, out);
}

void WriteFormula(const Polynomial& formula, std::string& out) {
  WriteKey("bias", formula.bias, out);
  WriteList("weights", formula.weights, out);
  WriteList("products", formula.products, out);
}

void WriteFormula(const Curve& formula, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"(,"shape":"{}")", kShapes[static_cast<size_t>(formula.shape)]);
  WriteKey("feature", formula.feature, out);
  WriteList("w", formula.w, out);
}

void WriteFormula(const Trees& formula, std::string& out) {
  using Node = Trees::Node;
  WriteKey("base", formula.base, out);
  WriteList("roots", formula.roots, out);
  WriteList("value", formula.nodes, out, &Node::value);
  WriteList("left", formula.nodes, out, &Node::left);
  WriteList("right", formula.nodes, out, &Node::right);
  WriteList("feature", formula.nodes, out, &Node::feature);
  WriteList("missing_left", formula.nodes, out, [](const Node& node) { return node.missing_left ? 1 : 0; });
}

void WriteFormula(const Neighbors& formula, std::string& out) {
  WriteKey("k", formula.k, out);
  WriteList("points", formula.points, out);
  WriteList("labels", formula.labels, out);
}

void WriteFormula(const SupportVectors& formula, std::string& out) {
  WriteKey("gamma", formula.gamma, out);
  WriteKey("bias", formula.bias, out);
  WriteList("vectors", formula.vectors, out);
  WriteList("coefficients", formula.coefficients, out);
}

void WriteFormula(const Blend& formula, std::string& out) {
  WriteList("weights", formula.weights, out);
  out += ",\"parts\":[";
  for (size_t i = 0; i < formula.parts.size(); ++i) {
    if (i > 0) out += ",\n";
    WritePredictor(formula.parts[i], out);
  }
  out += ']';
}

}  // namespace

void WriteRange(const Range& range, std::string& out) {
  fmt::format_to(std::back_inserter(out), "[{},{}]", range.min, range.max);
}

void WriteRanges(std::string_view key, std::span<const Range> ranges, std::string& out) {
  if (ranges.empty()) return;
  fmt::format_to(std::back_inserter(out), ",\"{}\":", key);
  for (bool first = true; const Range& range : ranges) {
    out += std::exchange(first, false) ? '[' : ',';
    WriteRange(range, out);
  }
  out += ']';
}

void WritePredictor(const Predictor& predictor, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"({{"formula":"{}")", kFormulas[predictor.formula.index()]);
  WriteRanges("limits", predictor.limits, out);
  if (!predictor.scale.empty()) WriteList("scale", predictor.scale, out);
  std::visit([&out](const auto& formula) { WriteFormula(formula, out); }, predictor.formula);
  out += '}';
}

}  // namespace kepler::model
