#pragma once
// SampleWriter: writes headers, escaped labels and samples in both formats.
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "export/prometheus/negotiate.h"
#include "export/prometheus/sink.h"
#include "export/series/visit.h"

namespace kepler::prometheus {

/// Maximum number of bytes that a Write function uses.
inline constexpr size_t kNumberRoom = 32;

/// Writes value × 10^-kDecimals exactly, as a plain decimal without trailing zeros: 1500000 with six decimals is "1.5".
/// Needs kNumberRoom bytes; returns the end of the text.
template <unsigned kDecimals>
[[nodiscard]] char* WriteFixed(char* out, int64_t value) {
  constexpr uint64_t kUnit = [] {
    uint64_t unit = 1;
    for (unsigned i = 0; i < kDecimals; ++i) unit *= 10;
    return unit;
  }();
  auto magnitude = static_cast<uint64_t>(value);
  if (value < 0) {
    *out++ = '-';
    magnitude = 0 - magnitude;
  }
  out = std::to_chars(out, out + kNumberRoom, magnitude / kUnit).ptr;
  uint64_t fraction = magnitude % kUnit;
  if (fraction == 0) return out;
  *out++ = '.';
  for (size_t i = kDecimals; i-- > 0; fraction /= 10) out[i] = static_cast<char>('0' + fraction % 10);
  size_t digits = kDecimals;
  while (out[digits - 1] == '0') --digits;
  return out + digits;
}

[[nodiscard]] inline char* WriteNumber(char* out, Energy energy) { return WriteFixed<6>(out, energy.microjoules()); }
[[nodiscard]] inline char* WriteNumber(char* out, Nanoseconds time) { return WriteFixed<9>(out, time.count()); }

/// Writes the shortest text that reads back as the same double. A non-finite value and minus zero become "0".
[[nodiscard]] char* WriteNumber(char* out, double value);

[[nodiscard]] inline char* WriteNumber(char* out, uint64_t count) {
  return std::to_chars(out, out + kNumberRoom, count).ptr;
}

/// Appends `value` as an escaped label value. Invalid UTF-8 is replaced, so that the page is always valid UTF-8.
void AppendLabelValue(std::string& out, std::string_view value);

class SampleWriter final : public series::Visitor {
 public:
  /// `node_name` is the value of the constant label; "" leaves the label out. `out` must outlive the writer.
  SampleWriter(Format format, std::string_view node_name, TextBuffer& out);
  /// Writes after each counter a line with the time at which it was 0 (OpenMetrics 1.0, `_created`). `snapshot` gives
  /// these times and must outlive the writer.
  void WriteCreatedLines(const snapshot::Snapshot& snapshot) { starts_ = &snapshot; }

  using Visitor::Add;
  /// Selects the family. The first sample writes the header.
  void Begin(const series::Family& family) override;
  void Add(const series::Labels& labels, const series::Number& value, BootTime begin) override;
  void AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones, const series::Cells& cells,
                BootTime begin) override;
  void End();

 private:
  void WriteHeader();
  void OpenRow(const series::Labels& labels, BootTime begin);
  template <class Value>
  void Sample(std::string_view tail, Value value);
  template <class Value>
  void Line(std::string_view head, std::string_view tail, Value value);
  void CreatedLine(std::string_view tail);

  Format format_;
  TextBuffer& out_;
  std::string node_name_label_;  // node_name="…", escaped; or empty
  const series::Family* family_ = nullptr;
  bool header_written_ = false;
  // State of the current family. A sample is prefix, value, prefix, value, …, end.
  std::vector<std::string> prefixes_;   // name{a=" and then ",b=" for each label that has a value
  std::string end_;                     // "} and the text before the sample's value
  std::vector<std::string> zone_ends_;  // ",zone="core"}
  std::string row_;                     // row without its end; reused
  std::string created_name_;            // name of the created lines; "" for none
  BootTime begin_{};                    // of the row
  const snapshot::Snapshot* starts_ = nullptr;
};

}  // namespace kepler::prometheus
