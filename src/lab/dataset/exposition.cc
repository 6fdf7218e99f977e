#include "lab/dataset/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::lab::dataset {
namespace {

using std::string_view;

constexpr string_view kBlanks = " \t";

struct PageSample {
  Labels labels{};
  double value = 0;
};

void SkipBlanks(string_view& rest) { rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size())); }

/// Reads the value of a label after its opening quote, with the closing quote.
std::optional<std::string> TakeLabelValue(string_view& rest) {
  std::string value;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return value;
    }
    if (rest[i] != '\\') {
      value += rest[i];
    } else if (++i < rest.size()) {
      value += rest[i] == 'n' ? '\n' : rest[i];
    }
  }
  return std::nullopt;
}

/// Reads the labels after "{", with "}".
std::optional<Labels> TakeLabels(string_view& rest) {
  Labels labels;
  while (true) {
    SkipBlanks(rest);
    if (rest.starts_with('}')) break;
    const size_t equals = rest.find('=');
    if (equals == string_view::npos) return std::nullopt;
    std::string name(Trim(rest.substr(0, equals)));
    rest.remove_prefix(equals + 1);
    SkipBlanks(rest);
    if (name.empty() || !rest.starts_with('"')) return std::nullopt;
    rest.remove_prefix(1);
    auto value = TakeLabelValue(rest);
    if (!value) return std::nullopt;
    labels.emplace_back(std::move(name), *std::move(value));
    SkipBlanks(rest);
    if (rest.starts_with(','))
      rest.remove_prefix(1);
    else if (!rest.starts_with('}'))
      return std::nullopt;
  }
  rest.remove_prefix(1);
  std::ranges::sort(labels);
  return labels;
}

/// Reads the rest of a line after the name of the metric.
std::optional<PageSample> ReadSample(string_view rest) {
  PageSample sample;
  SkipBlanks(rest);
  if (rest.starts_with('{')) {
    rest.remove_prefix(1);
    auto labels = TakeLabels(rest);
    if (!labels) return std::nullopt;
    sample.labels = *std::move(labels);
  }
  SkipBlanks(rest);
  string_view text = rest.substr(0, rest.find_first_of(kBlanks));
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto value = ParseNumber<double>(text);
  if (!value) return std::nullopt;
  sample.value = *value;
  return sample;
}

/// Calls a function for each line with a sample: number of the line, metric, rest of the line.
Status VisitSamples(string_view page,
                    const std::function<Status(size_t line, string_view metric, string_view rest)>& see) {
  Splitter lines(page, '\n');
  for (size_t number = 1; auto line = lines.Next(); ++number) {
    if (line->ends_with('\r')) line->remove_suffix(1);
    SkipBlanks(*line);
    if (line->empty() || line->starts_with('#')) continue;
    const size_t end = std::min(line->find_first_of("{ \t"), line->size());
    KEPLER_CHECK_OK(see(number, line->substr(0, end), line->substr(end)));
  }
  return {};
}

}  // namespace

Status AddExposition(string_view page, double time, const std::function<bool(string_view metric)>& is_wanted,
                     Recording& recording) {
  Recording read;
  size_t series = 0;
  KEPLER_CHECK_OK(VisitSamples(page, [&](size_t line, string_view metric, string_view rest) -> Status {
    if (!is_wanted(metric)) return {};
    auto sample = ReadSample(rest);
    if (!sample)
      return Fail(ErrorKind::kMalformed,
                  fmt::format("line {}: no sample of {}: '{}'", line, metric, EscapeControls(SanitizeUtf8(rest, 80))));
    Series& added = read.metrics[std::string(metric)].emplace_back(std::move(sample->labels));
    if (std::isfinite(sample->value))
      added.samples.push_back({time, sample->value});
    else
      ++read.not_finite;
    if (++series <= kMaxPageSeries) return {};
    return Fail(ErrorKind::kInvalid, fmt::format("line {}: more than {} series of one node", line, kMaxPageSeries));
  }));
  if (CountSamples(recording) + CountSamples(read) > kMaxSamples)
    return Fail(ErrorKind::kInvalid, fmt::format("more than {} samples were recorded", kMaxSamples));
  Append(recording, std::move(read));
  return {};
}

std::optional<double> FindSample(string_view page, string_view wanted) {
  std::optional<double> found;
  static_cast<void>(VisitSamples(page, [&](size_t, string_view metric, string_view rest) -> Status {
    if (metric != wanted || found) return {};
    if (const auto sample = ReadSample(rest); sample && std::isfinite(sample->value)) found = sample->value;
    return {};
  }));
  return found;
}

}  // namespace kepler::lab::dataset
