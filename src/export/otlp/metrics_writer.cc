#include "export/otlp/metrics_writer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <variant>

#include <protozero/pbf_writer.hpp>

#include "base/text.h"
#include "export/series/protobuf_fields.h"

namespace kepler::otlp {
namespace {

using protozero::pbf_writer;
using series::FieldSize;
using series::PutField;
using series::PutHead;

// Numbers of fields.
constexpr uint32_t kRequestResourceMetrics = 1;
constexpr uint32_t kResourceMetricsResource = 1, kResourceMetricsScopeMetrics = 2;
constexpr uint32_t kResourceAttributes = 1;
constexpr uint32_t kScopeMetricsScope = 1, kScopeMetricsMetrics = 2;
constexpr uint32_t kScopeName = 1, kScopeVersion = 2;
constexpr uint32_t kMetricName = 1, kMetricDescription = 2, kMetricUnit = 3, kMetricGauge = 5, kMetricSum = 7;
constexpr uint32_t kDataPoints = 1, kSumTemporality = 2, kSumIsMonotonic = 3;
constexpr uint32_t kPointStart = 2, kPointTime = 3, kPointDouble = 4, kPointInteger = 6, kPointAttributes = 7;
constexpr uint32_t kKey = 1, kValue = 2, kStringValue = 1;
constexpr int32_t kDelta = 1, kCumulative = 2;
// Levels whose rows end: a row that comes back counts from 0 again.
constexpr uint32_t kRows = series::kProcess | series::kContainer | series::kVm | series::kPod | series::kNamespace |
                           series::kOwner | series::kUser;

/// The value is a message, unlike that of series::AppendPair(). A server refuses the whole request for one text that is
/// not UTF-8, and OTEL_RESOURCE_ATTRIBUTES may have any bytes.
void AddAttribute(std::string& out, uint32_t field, std::string_view key, std::string_view value) {
  constexpr size_t kWhole = std::numeric_limits<size_t>::max();
  if (!IsValidUtf8(key) || !IsValidUtf8(value))
    return AddAttribute(out, field, SanitizeUtf8(key, kWhole), SanitizeUtf8(value, kWhole));
  const size_t any = FieldSize(value.size());
  const size_t pair = FieldSize(key.size()) + FieldSize(any);
  series::AppendBytes(out, FieldSize(pair), [&](char* at) {
    at = PutField(PutHead(at, field, pair), kKey, key);
    PutField(PutHead(at, kValue, any), kStringValue, value);
  });
}

void AddText(std::string& out, uint32_t field, std::string_view text) {
  if (!text.empty()) pbf_writer(out).add_bytes(field, text.data(), text.size());
}

/// Adds the value of a data point. A double is the one that a scrape of the same text gives.
struct AddValue {
  pbf_writer& point;
  void operator()(uint64_t count) const { point.add_sfixed64(kPointInteger, static_cast<int64_t>(count)); }
  void operator()(auto value) const { point.add_double(kPointDouble, series::AsDouble(value)); }
};

uint64_t UnixNanoseconds(WallTime time) {
  return static_cast<uint64_t>(std::max<int64_t>(0, time.time_since_epoch().count()));
}

}  // namespace

MetricsWriter::MetricsWriter(const Resource& resource, std::string_view version, Temporality temporality)
    : totals_(temporality == Temporality::kDelta ? std::make_unique<DeltaTotals>() : nullptr) {
  std::string attributes;
  for (const auto& [key, value] : resource) AddAttribute(attributes, kResourceAttributes, key, value);
  pbf_writer(resource_).add_message(kResourceMetricsResource, attributes);
  std::string scope;
  AddText(scope, kScopeName, "kepler");
  AddText(scope, kScopeVersion, version);
  pbf_writer(scope_).add_message(kScopeMetricsScope, scope);
}

void MetricsWriter::Write(const snapshot::Snapshot& snapshot, const series::Selection& selection,
                          const series::Extras& extras, RequestBuilder& out) {
  snapshot_ = &snapshot;
  out_ = &out;
  time_ = UnixNanoseconds(snapshot.taken_at);
  series::VisitSeries(snapshot, selection, extras, *this);
  EndMetric();
  EndMessage();
  if (totals_) totals_->EndPass();
  out.End();
}

void MetricsWriter::Begin(const series::Family& family) {
  EndMetric();
  naming_ = NamingOf(family);
  is_counter_ = family.name.ends_with(series::kTotal);
  attributes_.clear();
  for (const std::string_view label : family.labels)
    if (label != "node_name") attributes_.push_back(AttributeOf(label));
  zones_.clear();
  metric_.clear();
  // Families of several levels are about the node.
  if (totals_) totals_->Begin(naming_.name, std::has_single_bit(family.gates) && (family.gates & kRows) != 0);
  AddText(metric_, kMetricName, naming_.name);
  AddText(metric_, kMetricDescription, family.help);
  AddText(metric_, kMetricUnit, naming_.unit);
}

void MetricsWriter::OpenRow(const series::Labels& labels) {
  row_.clear();
  for (size_t i = 0; i < labels.values.size(); ++i) {
    const std::string_view value = labels.values[i];
    if (value.empty() || attributes_[i].empty()) continue;
    if (naming_.is_hardware && attributes_[i] == "zone") {
      AddAttribute(row_, kPointAttributes, "hw.id", value);
      if (!naming_.name.starts_with("hw.host.")) AddAttribute(row_, kPointAttributes, "hw.type", HardwareTypeOf(value));
      continue;
    }
    AddAttribute(row_, kPointAttributes, attributes_[i], value);
  }
  if (labels.further == nullptr) return;
  for (const auto& [key, value] : *labels.further)
    if (!value.empty()) AddAttribute(row_, kPointAttributes, key, value);
}

void MetricsWriter::Add(const series::Labels& labels, const series::Number& value, BootTime begin) {
  if (naming_.name.empty()) return;
  OpenRow(labels);
  Point({}, value, begin);
}

void MetricsWriter::MakeZones(std::span<const series::ZoneLabel> zones) {
  for (const series::ZoneLabel& zone : zones) AddAttribute(zones_.emplace_back(), kPointAttributes, "zone", zone.name);
}

void MetricsWriter::AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones,
                             const series::Cells& cells, BootTime begin) {
  if (zones_.empty()) MakeZones(zones);
  OpenRow(labels);
  const auto add = [&](auto row) {
    for (size_t i = 0; i < zones.size(); ++i) Point(zones_[i], series::Of(row[zones[i].index]), begin);
  };
  std::visit(add, cells);
}

void MetricsWriter::Point(std::string_view zone, const series::Number& value, BootTime begin) {
  constexpr size_t kFixed64 = 9;
  uint64_t start = is_counter_ ? StartOf(begin) : 0;
  series::Number shown = value;
  if (is_counter_ && totals_) {
    const auto growth = totals_->Grow(row_, zone, value, begin, start, time_);
    shown = growth.value;
    start = growth.start;
  }
  pbf_writer points(points_);
  pbf_writer point(points, kDataPoints, (start != 0 ? 3 : 2) * kFixed64 + row_.size() + zone.size());
  if (start != 0) point.add_fixed64(kPointStart, start);
  point.add_fixed64(kPointTime, time_);
  std::visit(AddValue{point}, shown);
  points_ += row_;
  points_ += zone;
  ++point_count_;
  if (points_.size() >= kChunk) EndMetric();
}

/// Moves the data points into the message.
void MetricsWriter::EndMetric() {
  if (points_.empty()) return;
  constexpr size_t kSumFields = 4;
  const size_t data_size = points_.size() + (is_counter_ ? kSumFields : 0);
  pbf_writer scope(metrics_);
  pbf_writer metric(scope, kScopeMetricsMetrics, metric_.size() + FieldSize(data_size));
  metrics_ += metric_;
  pbf_writer data(metric, is_counter_ ? kMetricSum : kMetricGauge, data_size);
  if (is_counter_) {
    data.add_enum(kSumTemporality, totals_ ? kDelta : kCumulative);
    data.add_bool(kSumIsMonotonic, true);
  }
  metrics_ += points_;
  points_.clear();
  metrics_points_ += std::exchange(point_count_, 0);
  if (metrics_.size() >= kChunk) EndMessage();
}

void MetricsWriter::EndMessage() {
  if (metrics_.empty()) return;
  const size_t content = scope_.size() + metrics_.size();
  head_.clear();
  {
    pbf_writer request(head_);
    pbf_writer message(request, kRequestResourceMetrics, resource_.size() + FieldSize(content));
    head_ += resource_;
    const pbf_writer scope_metrics(message, kResourceMetricsScopeMetrics, content);
    head_ += scope_;
  }
  out_->Add(head_, metrics_, std::exchange(metrics_points_, 0));
  metrics_.clear();
}

/// In Unix nanoseconds; 0: unknown.
uint64_t MetricsWriter::StartOf(BootTime begin) const {
  return std::min(UnixNanoseconds(snapshot_->StartOf(begin)), time_);
}

}  // namespace kepler::otlp
