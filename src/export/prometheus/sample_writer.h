#pragma once
// SampleWriter: the syntax of both formats: headers, label escaping, samples. Or, without an output, only counts.
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "export/prometheus/families.h"
#include "export/prometheus/format.h"
#include "export/prometheus/number_text.h"
#include "export/prometheus/text_buffer.h"

namespace kepler::prometheus {

/// Appends `value` escaped as a label value. What is not valid UTF-8 is replaced, so that a scrape always is.
void AppendLabelValue(std::string& out, std::string_view value);

class SampleWriter {
 public:
  /// `node_name` is the value of the constant label; "" leaves the label out. A null `out` counts only.
  SampleWriter(Format format, std::string_view node_name, TextBuffer* out);

  /// The family that the following samples belong to. Its header is written with its first sample.
  void Begin(const Family& family);
  /// One sample; `values` are those of the family's labels in their order, without node_name.
  void Add(std::initializer_list<std::string_view> values, const NumberText& number);

  // For tables with many rows: open a row, append its labels in the family's order, then write one sample or more.
  [[nodiscard]] bool counting() const { return out_ == nullptr; }
  void Count(uint64_t samples) { samples_ += samples; }
  void OpenRow();
  void Label(std::string_view name, std::string_view value) {
    if (row_.back() != '{') row_ += ',';
    row_.append(name).append("=\"");
    AppendLabelValue(row_, value);
    row_ += '"';
  }
  void NodeNameLabel();
  /// `tail` ends the labels: "} ", or ",zone=\"core\"} ". `write` is char*(char*), as in number_text.h.
  template <class WriteNumber>
  void Sample(std::string_view tail, const WriteNumber& write) {
    char* at = out_->Reserve(row_.size() + tail.size() + kNumberRoom + 1);
    std::memcpy(at, row_.data(), row_.size());
    at += row_.size();
    std::memcpy(at, tail.data(), tail.size());
    at = write(at + tail.size());
    *at++ = '\n';
    out_->Commit(at);
    ++samples_;
  }

  [[nodiscard]] uint64_t samples() const { return samples_; }
  void End();

 private:
  void WriteHeader();

  Format format_;
  TextBuffer* out_;
  std::string node_name_label_;  // node_name="…", escaped; or empty
  const Family* family_ = nullptr;
  bool header_written_ = false;
  std::string row_;  // name{labels of the row at hand; reused
  uint64_t samples_ = 0;
};

}  // namespace kepler::prometheus
