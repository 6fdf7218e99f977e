#include "apps/kepler/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::agent {
namespace {

constexpr size_t kMaxShown = 80;
constexpr size_t kMaxWarnings = 20;

constexpr std::array<std::string_view, 6> kTargets = {"NODE_TOTAL",         "NODE_COMPONENTS", "PROCESS_TOTAL",
                                                      "PROCESS_COMPONENTS", "CONTAINER_TOTAL", "CONTAINER_COMPONENTS"};
constexpr std::array<std::string_view, 5> kAttributes = {"_ESTIMATOR", "_LOCAL_REGRESSOR", "_INIT_URL", "_TRAINER",
                                                         "_FILTERS"};

using Values = std::map<std::string_view, std::string_view>;

bool IsOfNode(std::string_view key) { return key.starts_with("NODE_"); }

std::vector<std::string> KnownKeys() {
  std::vector<std::string> keys;
  for (const std::string_view target : kTargets)
    for (const std::string_view attribute : kAttributes) keys.push_back(std::string(target) + std::string(attribute));
  return keys;
}

std::string Unknown(std::string_view key, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view shown = key.substr(0, kMaxShown);
  const std::string_view nearest = NearestName(shown, names);
  return fmt::format("MODEL_CONFIG: unknown key {}{}", EscapeControls(shown),
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

/// The keys that there are. What is wrong with the text goes to `warnings`, without its values, which may be secret.
Values Split(std::string_view text, std::vector<std::string>& warnings) {
  Values values;
  const std::vector<std::string> known = KnownKeys();
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    std::string_view rest = Trim(*line);
    if (rest.starts_with('#')) continue;
    while (!rest.empty()) {
      const std::string_view token = rest.substr(0, std::min(rest.find_first_of(" \t\r\v\f"), rest.size()));
      rest = Trim(rest.substr(token.size()));
      const size_t equal = token.find('=');
      const std::string_view key = token.substr(0, equal);
      if (equal == std::string_view::npos || key.empty())
        warnings.emplace_back("MODEL_CONFIG: ignored text that is not KEY=VALUE");
      else if (std::ranges::find(known, key) == known.end())
        warnings.push_back(Unknown(key, known));
      else if (!values.insert_or_assign(key, token.substr(equal + 1)).second)
        warnings.push_back(fmt::format("MODEL_CONFIG: {} is given twice; the last one is used", key));
    }
  }
  return values;
}

/// Of a key without effect here; nothing where it asks for what is so anyway.
std::optional<std::string> WhatInstead(std::string_view key, std::string_view value, const Values& all) {
  if (!IsOfNode(key))
    return fmt::format(
        "MODEL_CONFIG: {} has no effect: processes and containers share the node's energy as attribution.weights says; "
        "remove it",
        key);
  if (key.ends_with("_INIT_URL")) return std::nullopt;
  if (key.ends_with("_FILTERS"))
    return fmt::format(
        "MODEL_CONFIG: {} has no effect: the model with the lowest error is used; list only usable models in "
        "model.sources",
        key);
  const std::string_view target = key.substr(0, key.rfind('_'));
  if (key.ends_with("_TRAINER"))
    return all.contains(std::string(target) + "_INIT_URL")
               ? std::nullopt
               : std::optional(fmt::format("MODEL_CONFIG: {} has no effect without {}_INIT_URL", key, target));
  if (!ParseBool(value).value_or(true)) return std::nullopt;
  if (key.ends_with("_ESTIMATOR"))
    return fmt::format(
        "MODEL_CONFIG: {} has no effect: the agent has no separate estimator; unpack the model with kepler-model "
        "import and add it to model.sources",
        key);
  return fmt::format("MODEL_CONFIG: {} has no effect: every listed model may be used; add the model to model.sources",
                     key);
}

}  // namespace

ModelConfig ReadModelConfig(std::string_view text) {
  ModelConfig config;
  const Values values = Split(text, config.warnings);
  for (const auto& [key, value] : values)
    if (auto warning = WhatInstead(key, value, values)) config.warnings.push_back(*std::move(warning));
  for (const std::string_view target : {"NODE_TOTAL", "NODE_COMPONENTS"}) {
    const std::string key = fmt::format("{}_INIT_URL", target);
    const auto url = values.find(key);
    if (url == values.end() || url->second.empty()) continue;
    auto place = model_store::ParsePlace(url->second);
    if (!place) {
      config.warnings.push_back(fmt::format("MODEL_CONFIG: {} {}", key, place.error().message));
      continue;
    }
    // The number behind the trainer is that of a type of machines, which says nothing here.
    const auto trainer = values.find(fmt::format("{}_TRAINER", target));
    if (trainer != values.end() && !trainer->second.empty()) place->name = fmt::format("{}_0", trainer->second);
    config.places.push_back(*std::move(place));
  }
  if (const size_t all = config.warnings.size(); all > kMaxWarnings) {
    config.warnings.resize(kMaxWarnings);
    config.warnings.push_back(fmt::format("MODEL_CONFIG: {} more warnings", all - kMaxWarnings));
  }
  return config;
}

}  // namespace kepler::agent
