#pragma once
// Recordings to extract rows from, and accessors of the rows. For the tests of extract.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/dataset/extract.h"

namespace kepler::lab::dataset {

inline constexpr char kCpu[] = "kepler_node_cpu_seconds_total";
inline constexpr char kEnergy[] = "kepler_node_cpu_joules_total";

/// Every 5 s from 1000 on, `count` samples of what `value` says for the seconds since then.
inline Series Every5s(Labels labels, size_t count, const std::function<double(double)>& value) {
  Series series{.labels = std::move(labels)};
  std::ranges::sort(series.labels);
  for (size_t i = 0; i < count; ++i) {
    const double seconds = 5.0 * static_cast<double>(i);
    series.samples.push_back({1000 + seconds, value(seconds)});
  }
  return series;
}
inline std::function<double(double)> Line(double start, double rate) {
  return [=](double seconds) { return start + rate * seconds; };
}
inline Labels Node(std::string name) { return {{"job", "k"}, {"node_name", std::move(name)}}; }
inline Labels Zone(std::string name, std::string zone, std::string path = "intel-rapl:0") {
  return {{"job", "k"}, {"node_name", std::move(name)}, {"path", std::move(path)}, {"zone", std::move(zone)}};
}
/// 40 W at two busy CPUs for a minute.
inline Recording Steady() {
  Recording recording;
  recording.metrics[kCpu] = {Every5s(Node("a"), 13, Line(500, 2))};
  recording.metrics[kEnergy] = {Every5s(Zone("a", "package"), 13, Line(1e6, 40))};
  return recording;
}
inline Extraction Extract(Recording recording, const ExtractOptions& options = {}) {
  auto extraction = ExtractRows(std::move(recording), options);
  EXPECT_TRUE(extraction) << extraction.error().message;
  return extraction ? *std::move(extraction) : Extraction();
}
inline std::string ErrorOf(Recording recording, const ExtractOptions& options = {}) {
  const auto extraction = ExtractRows(std::move(recording), options);
  return extraction ? "no error" : extraction.error().message;
}
inline std::vector<double> ColumnOf(const Extraction& extraction, std::string_view name) {
  const auto column = std::ranges::find(extraction.columns, name) - extraction.columns.begin();
  std::vector<double> values;
  values.reserve(extraction.rows.size());
  for (const Row& row : extraction.rows) values.push_back(row.values.at(static_cast<size_t>(column)));
  return values;
}
inline void ExpectAll(const Extraction& extraction, std::string_view column, double value) {
  for (const double found : ColumnOf(extraction, column)) EXPECT_NEAR(found, value, 1e-6) << column;
}

}  // namespace kepler::lab::dataset
