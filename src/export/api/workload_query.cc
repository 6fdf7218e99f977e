#include "export/api/workload_query.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "export/series/family.h"
#include "http/server/request.h"

namespace kepler::api {
namespace {

using snapshot::Level;

constexpr std::array kLevels = {Level::kProcess, Level::kContainer, Level::kPod, Level::kVm, Level::kNamespace};
constexpr std::array kSorts = {Sort::kWatts, Sort::kJoules, Sort::kCpu};

Result<Level> ParseLevel(const std::optional<std::string>& text, uint32_t gates) {
  std::string allowed;
  for (const Level level : kLevels) {
    if (!IsShown(level, gates)) continue;
    if (!text || *text == snapshot::ToString(level)) return level;
    allowed += (allowed.empty() ? "" : ", ") + std::string(snapshot::ToString(level));
  }
  if (allowed.empty() && !text) return kLevels.front();  // the answer has no workloads
  if (allowed.empty()) allowed = "none; add levels to exporter.prometheus.metricsLevel";
  return RefuseParameter("level", text.value_or(""), allowed);
}

Result<Sort> ParseSort(const std::optional<std::string>& text) {
  if (!text) return Sort::kWatts;
  for (const Sort sort : kSorts)
    if (*text == ToString(sort)) return sort;
  return RefuseParameter("sort", *text, "watts, joules, cpu");
}

Result<size_t> ParseLimit(const std::optional<std::string>& text) {
  if (!text) return kDefaultRows;
  const auto limit = ParseNumber<size_t>(*text);
  if (limit && *limit >= 1 && *limit <= kMaxRows) return *limit;
  return RefuseParameter("limit", *text, fmt::format("1 to {}", kMaxRows));
}

Result<std::string> ParseText(std::string_view query, std::string_view name, size_t max) {
  KEPLER_TRY(const auto text, http::server::FindParameter(query, name));
  if (text && text->size() > max) return RefuseParameter(name, *text, fmt::format("texts of at most {} bytes", max));
  return text.value_or("");
}

}  // namespace

std::unexpected<Error> RefuseParameter(std::string_view name, std::string_view value, std::string_view allowed) {
  constexpr size_t kMaxShown = 80;  // bytes
  return Fail(ErrorKind::kInvalid, fmt::format("parameter {}: \"{}\" is invalid; allowed values: {}", name,
                                               EscapeControls(SanitizeUtf8(value, kMaxShown)), allowed));
}

std::string_view ToString(Sort sort) {
  switch (sort) {
    case Sort::kJoules:
      return "joules";
    case Sort::kCpu:
      return "cpu";
    case Sort::kWatts:
      break;
  }
  return "watts";
}

std::span<const Level> AllLevels() { return kLevels; }

bool IsShown(Level level, uint32_t gates) {
  switch (level) {
    case Level::kProcess:
      return (gates & series::kProcess) != 0;
    case Level::kContainer:
      return (gates & series::kContainer) != 0;
    case Level::kVm:
      return (gates & series::kVm) != 0;
    case Level::kPod:
      return (gates & series::kPod) != 0;
    case Level::kNamespace:
      return (gates & (series::kNamespace | series::kPod)) != 0;
    case Level::kOwner:
    case Level::kUser:
      break;
  }
  return false;
}

Result<Query> ParseQuery(std::string_view text, uint32_t gates) {
  Query query;
  KEPLER_TRY(const auto level, http::server::FindParameter(text, "level"));
  KEPLER_TRY(query.level, ParseLevel(level, gates));
  KEPLER_TRY(const auto sort, http::server::FindParameter(text, "sort"));
  KEPLER_TRY(query.sort, ParseSort(sort));
  KEPLER_TRY(const auto limit, http::server::FindParameter(text, "limit"));
  KEPLER_TRY(query.limit, ParseLimit(limit));
  KEPLER_TRY(query.search, ParseText(text, "search", kMaxSearch));
  KEPLER_TRY(query.under, ParseText(text, "under", kMaxUnder));
  return query;
}

}  // namespace kepler::api
