#include "export/prometheus/sample_writer.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text.h"

namespace kepler::prometheus {

char* WriteNumber(char* out, double value) {
  if (!std::isfinite(value) || value == 0.0) {
    *out = '0';
    return out + 1;
  }
  return std::to_chars(out, out + kNumberRoom, value).ptr;
}

namespace {

/// Sets a bit in the lowest zero byte of `word`. Bits may also be set in bytes above it.
constexpr uint64_t ZeroBytes(uint64_t word) { return (word - 0x0101010101010101U) & ~word & 0x8080808080808080U; }
constexpr uint64_t Each(char c) { return 0x0101010101010101U * static_cast<unsigned char>(c); }

/// Returns 0 if the bytes of `word` are ASCII without characters to escape. Zero bytes are allowed.
constexpr uint64_t SpecialBytes(uint64_t word) {
  return (word & 0x8080808080808080U) | ZeroBytes(word ^ Each('"')) | ZeroBytes(word ^ Each('\\')) |
         ZeroBytes(word ^ Each('\n'));
}

template <class Word>
uint64_t SpecialBytesAt(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return SpecialBytes(word);
}

/// Returns true for ASCII without characters to escape. Label values are most of a page, so eight bytes are checked at
/// a time. The last bytes overlap those before: to fill a word with fewer bytes, the processor waits for its stores.
bool IsPlain(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  uint64_t special = 0;
  if (text.size() >= 8) {
    for (; end - at > 8; at += 8) special |= SpecialBytesAt<uint64_t>(at);
    special |= SpecialBytesAt<uint64_t>(end - 8);
  } else if (text.size() >= 4) {
    special = SpecialBytesAt<uint32_t>(at) | SpecialBytesAt<uint32_t>(end - 4);
  } else {
    for (; at != end; ++at) special |= SpecialBytesAt<uint8_t>(at);
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

SampleWriter::SampleWriter(Format format, std::string_view node_name, TextBuffer& out) : format_(format), out_(out) {
  if (node_name.empty()) return;
  node_name_label_ = "node_name=\"";
  AppendLabelValue(node_name_label_, node_name);
  node_name_label_ += '"';
}

void SampleWriter::Begin(const series::Family& family) {
  family_ = &family;
  header_written_ = false;
  prefixes_.clear();
  zone_ends_.clear();
  std::string text(family.name);
  char separator = '{';
  for (const std::string_view label : family.labels) {
    const bool constant = label == "node_name";
    if (constant && node_name_label_.empty()) continue;
    text += std::exchange(separator, ',');
    if (constant) {
      text += node_name_label_;
      continue;
    }
    text.append(label).append("=\"");
    prefixes_.push_back(std::exchange(text, "\""));
  }
  end_ = text + (separator == '{' ? " " : "} ");  // no labels, no braces
  created_name_.clear();
  if (starts_ != nullptr && format_ == Format::kOpenMetrics100 && series::TypeOf(family) == "counter")
    created_name_.append(series::BaseName(family)).append("_created");
}

void SampleWriter::WriteHeader() {
  header_written_ = true;
  const bool open_metrics = format_ == Format::kOpenMetrics100;
  const std::string_view name = open_metrics ? series::BaseName(*family_) : family_->name;
  for (const std::string_view part :
       {std::string_view("# HELP "), name, std::string_view(" "), family_->help, std::string_view("\n# TYPE "), name,
        std::string_view(" "), series::TypeOf(*family_), std::string_view("\n")})
    out_.Append(part);
  if (!open_metrics || family_->unit.empty()) return;
  for (const std::string_view part :
       {std::string_view("# UNIT "), name, std::string_view(" "), family_->unit, std::string_view("\n")})
    out_.Append(part);
}

void SampleWriter::OpenRow(const series::Labels& labels, BootTime begin) {
  if (!header_written_) WriteHeader();
  begin_ = begin;
  row_.clear();
  for (size_t i = 0; i < labels.values.size(); ++i) {
    row_ += prefixes_[i];
    AppendLabelValue(row_, labels.values[i]);
  }
  if (labels.further == nullptr) return;
  assert(!labels.values.empty());  // the text after a value writes its closing quote
  for (const auto& [name, text] : *labels.further) {
    row_.append("\",").append(name).append("=\"");
    AppendLabelValue(row_, text);
  }
}

template <class Value>
void SampleWriter::Line(std::string_view head, std::string_view tail, Value value) {
  char* at = out_.Reserve(head.size() + tail.size() + kNumberRoom + 1);
  std::memcpy(at, head.data(), head.size());
  at += head.size();
  std::memcpy(at, tail.data(), tail.size());
  at = WriteNumber(at + tail.size(), value);
  *at++ = '\n';
  out_.Commit(at);
}

template <class Value>
void SampleWriter::Sample(std::string_view tail, Value value) {
  Line(row_, tail, value);
  if (!created_name_.empty()) CreatedLine(tail);
}

/// The labels are those of the sample, whose text begins with the name of the family.
void SampleWriter::CreatedLine(std::string_view tail) {
  out_.Append(created_name_);
  std::string_view head = row_;
  (head.empty() ? tail : head).remove_prefix(family_->name.size());
  Line(head, tail, starts_->StartOf(begin_).time_since_epoch());
}

void SampleWriter::Add(const series::Labels& labels, const series::Number& value, BootTime begin) {
  assert(labels.values.size() == prefixes_.size());
  OpenRow(labels, begin);
  std::visit([&](auto number) { Sample(end_, number); }, value);
}

void SampleWriter::AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones,
                            const series::Cells& cells, BootTime begin) {
  assert(labels.values.size() + 1 == prefixes_.size());
  if (zone_ends_.empty()) {
    for (const auto& zone : zones) {
      AppendLabelValue(zone_ends_.emplace_back(prefixes_.back()), zone.name);
      zone_ends_.back() += end_;
    }
  }
  OpenRow(labels, begin);
  const auto write = [&](auto row) {
    for (size_t i = 0; i < zones.size(); ++i) Sample(zone_ends_[i], row[zones[i].index]);
  };
  std::visit(write, cells);
}

void SampleWriter::End() {
  if (format_ == Format::kOpenMetrics100) out_.Append("# EOF\n");
}

}  // namespace kepler::prometheus
