#pragma once
// ProtobufWriter: writes families as io.prometheus.client.MetricFamily, each after its length as a varint. Source of
// the field numbers: github.com/prometheus/client_model, io/prometheus/client/metrics.proto.
//
// The length of a family is written before its samples, which are never in memory as a whole. So a snapshot is visited
// twice: the first writer measures each family, the second one writes. One thread; the snapshot must not change.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "export/prometheus/sink.h"
#include "export/series/visit.h"

namespace kepler::prometheus {

class ProtobufWriter final : public series::Visitor {
 public:
  /// Measures. `node_name` is the value of the constant label; "" leaves the label out. `snapshot` gives start times.
  ProtobufWriter(const snapshot::Snapshot& snapshot, std::string_view node_name);
  /// Writes to `out`. `sizes`: measured for the same series. Both must outlive the writer.
  ProtobufWriter(const snapshot::Snapshot& snapshot, std::string_view node_name, std::span<const size_t> sizes,
                 TextBuffer& out);

  /// Bytes of each family that has samples, without the length in front.
  [[nodiscard]] std::span<const size_t> sizes() const { return measured_; }

  using Visitor::Add;
  void Begin(const series::Family& family) override;
  void Add(const series::Labels& labels, const series::Number& value, BootTime begin) override;
  void AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones, const series::Cells& cells,
                BootTime begin) override;

 private:
  struct Label {
    std::string_view name;
    std::string_view value;  // valid UTF-8
    std::string repaired;    // holds a value that was not
    bool is_constant = false;
  };

  void OpenFamily();
  void MakeValue(BootTime begin);
  void OpenRow(std::span<Label> fields, const series::Labels& labels, BootTime begin);
  template <class Value>
  void Sample(std::string_view zone, Value value);

  const snapshot::Snapshot& snapshot_;
  TextBuffer* out_ = nullptr;  // null: measures
  std::span<const size_t> sizes_;
  std::vector<size_t> measured_;
  std::string node_name_;  // value of the constant label
  const series::Family* family_ = nullptr;
  bool family_open_ = false;
  // State of the current family.
  std::vector<Label> labels_;
  std::vector<std::string> zone_labels_;
  // State of the current row; reused.
  std::string row_;      // labels; empty while measuring
  size_t row_size_ = 0;  // their bytes
  std::string further_value_;
  std::array<char, 32> value_{};  // field `counter` or `gauge`, at most 30 bytes
  size_t value_size_ = 0;
  BootTime value_begin_{};  // the start time in value_
};

}  // namespace kepler::prometheus
