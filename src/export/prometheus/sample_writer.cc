#include "export/prometheus/sample_writer.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/text.h"

namespace kepler::prometheus {
namespace {

/// A bit in each byte of `word` that is zero, and perhaps in those above the lowest such byte.
constexpr uint64_t ZeroBytes(uint64_t word) { return (word - 0x0101010101010101U) & ~word & 0x8080808080808080U; }
constexpr uint64_t Each(char c) { return 0x0101010101010101U * static_cast<unsigned char>(c); }

/// ASCII in which nothing has to be escaped. Most of a page is label values: eight bytes at a time.
bool IsPlain(std::string_view text) {
  uint64_t special = 0;
  while (!text.empty()) {
    uint64_t word = 0;  // where it is not filled, bytes that are plain
    const size_t size = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), size);
    special |= (word & 0x8080808080808080U) | ZeroBytes(word ^ Each('"')) | ZeroBytes(word ^ Each('\\')) |
               ZeroBytes(word ^ Each('\n'));
    text.remove_prefix(size);
  }
  return special == 0;
}

}  // namespace

void AppendLabelValue(std::string& out, std::string_view value) {
  if (IsPlain(value)) {
    out.append(value);
    return;
  }
  if (!IsValidUtf8(value)) {
    AppendLabelValue(out, SanitizeUtf8(value, std::numeric_limits<size_t>::max()));
    return;
  }
  for (const char c : value) {
    if (c == '\n') {
      out.append("\\n");
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
}

SampleWriter::SampleWriter(Format format, std::string_view node_name, TextBuffer* out) : format_(format), out_(out) {
  if (node_name.empty()) return;
  node_name_label_ = "node_name=\"";
  AppendLabelValue(node_name_label_, node_name);
  node_name_label_ += '"';
}

void SampleWriter::Begin(const Family& family) {
  family_ = &family;
  header_written_ = false;
}

void SampleWriter::WriteHeader() {
  header_written_ = true;
  const bool open_metrics = format_ == Format::kOpenMetrics100;
  const std::string_view name = open_metrics ? BaseName(*family_) : family_->name;
  for (const std::string_view part :
       {std::string_view("# HELP "), name, std::string_view(" "), family_->help, std::string_view("\n# TYPE "), name,
        std::string_view(" "), ToString(family_->type), std::string_view("\n")})
    out_->Append(part);
  if (!open_metrics || family_->unit.empty()) return;
  for (const std::string_view part :
       {std::string_view("# UNIT "), name, std::string_view(" "), family_->unit, std::string_view("\n")})
    out_->Append(part);
}

void SampleWriter::OpenRow() {
  if (!header_written_) WriteHeader();
  row_.assign(family_->name);
  row_ += '{';
}

void SampleWriter::NodeNameLabel() {
  if (node_name_label_.empty()) return;
  if (row_.back() != '{') row_ += ',';
  row_.append(node_name_label_);
}

void SampleWriter::Add(std::initializer_list<std::string_view> values, const NumberText& number) {
  if (counting()) {
    ++samples_;
    return;
  }
  OpenRow();
  const auto* value = values.begin();
  for (const std::string_view label : family_->labels) {
    if (label == "node_name") {
      NodeNameLabel();
      continue;
    }
    assert(value != values.end());
    Label(label, *value++);
  }
  assert(value == values.end());
  std::string_view tail = "} ";
  if (row_.back() == '{') {  // no labels, no braces
    row_.pop_back();
    tail = " ";
  }
  Sample(tail, [&](char* at) {
    std::memcpy(at, number.view().data(), number.view().size());
    return at + number.view().size();
  });
}

void SampleWriter::End() {
  if (format_ == Format::kOpenMetrics100) out_->Append("# EOF\n");
}

}  // namespace kepler::prometheus
