#pragma once
// The page of a pipeline run over feature groups and zones: a table of figures, and a chart for each zone. No I/O.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lab/judging/fitting.h"
#include "lab/judging/plot_page.h"

namespace kepler::lab::judging {

/// A component of the model of one feature group.
struct PipelineRow {
  std::string group;
  std::string trainer;  // as requested: "auto"
  Figures figures;
  std::vector<std::string> exceeded;  // limits, in words
  bool is_written = false;            // it is part of the model in the directory of its group
};

struct PipelineReport {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;   // "Data", "node.csv, 300 rows"
  std::vector<std::pair<std::string, std::string>> groups;  // names of feature groups, and their features
  std::vector<PipelineRow> rows;
  std::vector<Comparison> zones;  // the groups of one zone, the best first
};

/// By component, the smallest MAE first.
void SortRows(std::vector<PipelineRow>& rows);
/// A line per row, for a terminal.
[[nodiscard]] std::string PipelineTable(std::span<const PipelineRow> rows);
[[nodiscard]] std::string PipelineJson(std::string_view head, std::span<const PipelineRow> rows);
[[nodiscard]] Result<std::string> PipelineHtml(const PipelineReport& report);

}  // namespace kepler::lab::judging
