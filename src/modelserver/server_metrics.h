#pragma once
// The metrics of a model server in the text format of Prometheus. Pure.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "modelserver/model_answers.h"
#include "modelserver/model_index.h"

namespace kepler::modelserver {

struct ServerFigures {
  std::string_view version;
  const ModelIndex& index;
  AnswerCounts answers;
  uint64_t scans = 0;
  uint64_t failed_scans = 0;
  std::string more{};                                               // further metrics, in the same format
  std::map<std::pair<std::string, unsigned>, uint64_t> requests{};  // by route and status
};

[[nodiscard]] std::string WriteMetrics(const ServerFigures& figures);

}  // namespace kepler::modelserver
