#pragma once
// MetricsWriter: samples as the protobuf of OTLP (opentelemetry-proto 1.7,
// metrics/v1/metrics.proto), straight from the catalogue. A request is a series
// of ResourceMetrics messages of about kChunk bytes: messages of one repeated
// field may be joined, so no length must be known before the data, and only one
// chunk is in memory. The buffers are kept, so the steady state allocates
// nothing per sample. One thread.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/otlp/delta_totals.h"
#include "export/otlp/naming.h"
#include "export/otlp/request_builder.h"
#include "export/series/visit.h"
#include "snapshot/snapshot.h"

namespace kepler::otlp {

/// Attributes of the resource: the machine and the agent.
using Resource = std::vector<std::pair<std::string, std::string>>;

/// What a counter's data points count: since its start time 0, or since the data point before.
enum class Temporality : uint8_t { kCumulative, kDelta };

class MetricsWriter final : public series::Visitor {
 public:
  static constexpr size_t kChunk = 128 * 1024;

  /// `version`: of the agent.
  MetricsWriter(const Resource& resource, std::string_view version, Temporality temporality);

  /// Writes all families of the snapshot.
  void Write(const snapshot::Snapshot& snapshot, const series::Selection& selection, const series::Extras& extras,
             RequestBuilder& out);

  // For VisitSeries().
  using Visitor::Add;
  void Begin(const series::Family& family) override;
  [[nodiscard]] bool Wants(size_t /*samples*/) override { return !naming_.name.empty(); }
  void Add(const series::Labels& labels, const series::Number& value, BootTime begin) override;
  void AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones, const series::Cells& cells,
                BootTime begin) override;

 private:
  void OpenRow(const series::Labels& labels);
  void MakeZones(std::span<const series::ZoneLabel> zones);
  void Point(std::string_view zone, const series::Number& value, BootTime begin);
  void EndMetric();
  void EndMessage();
  [[nodiscard]] uint64_t StartOf(BootTime begin) const;

  std::string resource_;                 // field 1 of ResourceMetrics
  std::string scope_;                    // field 1 of ScopeMetrics
  std::unique_ptr<DeltaTotals> totals_;  // null: cumulative
  const snapshot::Snapshot* snapshot_ = nullptr;
  RequestBuilder* out_ = nullptr;
  uint64_t time_ = 0;  // of all data points, in Unix nanoseconds
  // The current family.
  Naming naming_{};
  bool is_counter_ = false;
  std::vector<std::string_view> attributes_;  // per label
  std::string metric_;                        // name, description and unit
  std::vector<std::string> zones_;            // attributes of each zone of AddZones()
  std::string row_;                           // attributes of a row
  std::string points_;                        // data points of the metric
  uint64_t point_count_ = 0;
  // The current message.
  std::string metrics_;
  uint64_t metrics_points_ = 0;
  std::string head_;
};

}  // namespace kepler::otlp
