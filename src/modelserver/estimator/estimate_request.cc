#include "modelserver/estimator/estimate_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/parse.h"
#include "json/document.h"
#include "model/features.h"
#include "modelserver/model_index.h"

namespace kepler::modelserver::estimator {
namespace {

using json::Cursor;

/// Values outside lists of numbers: names, and one list per row.
constexpr size_t kMaxValues = kMaxRows + 4096;

std::unexpected<Error> Wrong(std::string_view field, std::string_view reason) {
  return Fail(ErrorKind::kMalformed, fmt::format("{}: {}", field, reason));
}

/// An optional text; null counts as missing.
Result<std::string> TextOrNone(const Cursor& root, std::string_view key) {
  KEPLER_TRY(const auto at, root.Find(key));
  if (!at || at->IsNull()) return std::string();
  KEPLER_TRY(const std::string_view text, at->Text());
  return std::string(text);
}

Status AddNames(const Cursor& root, std::string_view key, std::vector<std::string>& features) {
  KEPLER_TRY(const std::vector<std::string> names, root.Texts(key));
  for (const std::string& name : names) {
    features.emplace_back(model::CanonicalFeature(name));
    if (std::ranges::count(features, features.back()) > 1) return Wrong(key, "a name occurs twice");
    if (features.size() > model::kMaxFeatures)
      return Wrong(key, fmt::format("more than {} features", model::kMaxFeatures));
  }
  return {};
}

/// Agents of Kepler 0.7 send texts, {"system_features":["cpu_architecture"],"system_values":["Sapphire Rapids"]}.
using SystemValues = std::vector<std::optional<double>>;  // nothing: a text that is not a number
Result<SystemValues> ReadSystemValues(const Cursor& root) {
  KEPLER_TRY(const auto at, root.Find("system_values"));
  SystemValues values;
  if (!at || at->IsNull()) return values;
  if (const auto numbers = at->Numbers()) {
    values.assign(numbers->begin(), numbers->end());
    return values;
  }
  KEPLER_TRY(const std::vector<std::string> texts, at->Texts());
  for (const std::string& text : texts) {
    const auto number = ParseNumber<double>(text);
    values.push_back(number && std::isfinite(*number) ? number : std::nullopt);
  }
  return values;
}

/// Adds the system features that have a number, and returns the numbers. A model has no use for other ones.
Result<std::vector<double>> AddSystemFeatures(const Cursor& root, std::vector<std::string>& features) {
  KEPLER_TRY(const auto system, root.Find("system_features"));
  const size_t metrics = features.size();
  if (system && !system->IsNull()) KEPLER_CHECK_OK(AddNames(root, "system_features", features));
  KEPLER_TRY(const SystemValues values, ReadSystemValues(root));
  if (metrics + values.size() != features.size())
    return Wrong("system_values", "their number differs from that of system_features");
  std::vector<double> constants;
  size_t kept = metrics;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    constants.push_back(*values[i]);
    features[kept++] = features[metrics + i];
  }
  features.resize(kept);
  return constants;
}

Status ReadRows(const Cursor& root, size_t columns, std::span<const double> constants, EstimateRequest& request) {
  KEPLER_TRY(const Cursor values, root.Member("values"));
  if (values.IsNull()) return {};  // Go's list without rows
  KEPLER_TRY(const std::vector<Cursor> rows, values.Elements());
  if (rows.size() > kMaxRows) return Wrong("values", fmt::format("{} rows; the maximum is {}", rows.size(), kMaxRows));
  request.rows.reserve(rows.size());
  for (const Cursor& at : rows) {
    KEPLER_TRY(const std::span<const double> numbers, at.Numbers());
    if (numbers.size() != columns)
      return at.Refuse(fmt::format("{} numbers, but metrics has {} names", numbers.size(), columns));
    std::vector<double>& row = request.rows.emplace_back(numbers.begin(), numbers.end());
    row.insert(row.end(), constants.begin(), constants.end());
  }
  return {};
}

}  // namespace

ObjectEnd::Found ObjectEnd::Read(std::string_view piece) {
  for (const char c : piece) {
    if (found_ != Found::kMore) break;
    ++bytes_;
    if (in_text_) {
      in_text_ = is_escaped_ || c != '"';
      is_escaped_ = !is_escaped_ && c == '\\';
    } else if (c == '{') {
      ++depth_;
    } else if (depth_ == 0) {
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') found_ = Found::kNoObject;
    } else if (c == '"') {
      in_text_ = true;
    } else if (c == '}' && --depth_ == 0) {
      found_ = Found::kEnd;
    }
  }
  return found_;
}

Result<EstimateRequest> ReadEstimateRequest(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text, kMaxValues));
  const Cursor root(document);
  EstimateRequest request;
  KEPLER_CHECK_OK(AddNames(root, "metrics", request.features));
  const size_t columns = request.features.size();
  if (columns == 0) return Wrong("metrics", "the list is empty");
  KEPLER_TRY(const std::vector<double> constants, AddSystemFeatures(root, request.features));
  KEPLER_CHECK_OK(ReadRows(root, columns, constants, request));
  KEPLER_TRY(const std::string_view output, root.Text("output_type"));
  const auto kind = model::OutputTypeOf(output);
  if (!kind) return Wrong("output_type", "it must be AbsPower or DynPower");
  request.output = *kind;
  KEPLER_TRY(const std::string source, TextOrNone(root, "source"));
  request.source = NormalSource(source.empty() ? "rapl-sysfs" : source);
  KEPLER_TRY(request.trainer_name, TextOrNone(root, "trainer_name"));
  KEPLER_TRY(const std::string filter, TextOrNone(root, "filter"));
  KEPLER_TRY(request.filter, ReadFilter(filter));
  return request;
}

}  // namespace kepler::modelserver::estimator
