#include "export/prometheus/protobuf_writer.h"

#include <bit>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>

#include <protozero/pbf_writer.hpp>

#include "base/text.h"
#include "export/series/protobuf_fields.h"

namespace kepler::prometheus {
namespace {

using series::FieldSize;
using series::PairSize;
using series::PutBytes;
using series::PutVarint;
using series::TextTag;

// Field numbers of metrics.proto and google/protobuf/timestamp.proto.
enum FamilyField : uint32_t { kName = 1, kHelp = 2, kType = 3, kMetric = 4, kUnit = 5 };
enum MetricField : uint32_t { kLabel = 1, kGauge = 2, kCounter = 3 };
enum ValueField : uint32_t { kNumber = 1, kCreated = 3 };
enum TimeField : uint32_t { kSeconds = 1, kNanos = 2 };
enum MetricType : int32_t { kTypeCounter = 0, kTypeGauge = 1 };

/// The field `metric` without its content: tag and length.
constexpr size_t kMetricHead = 1 + protozero::max_varint_length;
/// Where the number is in the field `counter` or `gauge`: after two tags and a length.
constexpr size_t kNumberAt = 3;

bool IsCounter(const series::Family& family) { return series::TypeOf(family) == "counter"; }

/// Tags of a field with a number of eight bytes and with a varint.
constexpr char DoubleTag(uint32_t field) { return static_cast<char>(field << 3 | 1); }
constexpr char VarintTag(uint32_t field) { return static_cast<char>(field << 3); }

std::string Repaired(std::string_view text) { return SanitizeUtf8(text, std::numeric_limits<size_t>::max()); }

/// Returns `text` with invalid UTF-8 replaced. `repaired` holds the result if it differs.
std::string_view Valid(std::string_view text, std::string& repaired) {
  if (IsValidUtf8(text)) return text;
  return repaired = Repaired(text);
}

}  // namespace

ProtobufWriter::ProtobufWriter(const snapshot::Snapshot& snapshot, std::string_view node_name)
    : snapshot_(snapshot), node_name_(Repaired(node_name)) {}

ProtobufWriter::ProtobufWriter(const snapshot::Snapshot& snapshot, std::string_view node_name,
                               std::span<const size_t> sizes, TextBuffer& out)
    : ProtobufWriter(snapshot, node_name) {
  out_ = &out;
  sizes_ = sizes;
}

void ProtobufWriter::Begin(const series::Family& family) {
  family_ = &family;
  family_open_ = false;
  labels_.clear();
  zone_labels_.clear();
  for (const std::string_view name : family.labels) {
    const bool is_constant = name == "node_name";
    if (is_constant && node_name_.empty()) continue;
    Label& label = labels_.emplace_back();
    label.name = name;
    label.is_constant = is_constant;
    if (is_constant) label.value = node_name_;
  }
}

void ProtobufWriter::OpenFamily() {
  family_open_ = true;
  std::string head;
  protozero::pbf_writer writer(head);
  writer.add_string(kName, family_->name.data(), family_->name.size());
  writer.add_string(kHelp, family_->help.data(), family_->help.size());
  writer.add_enum(kType, IsCounter(*family_) ? kTypeCounter : kTypeGauge);
  if (!family_->unit.empty()) writer.add_string(kUnit, family_->unit.data(), family_->unit.size());
  if (out_ == nullptr) {
    measured_.push_back(head.size());
  } else {
    assert(!sizes_.empty());
    std::string length;
    protozero::add_varint_to_buffer(&length, sizes_.front());
    sizes_ = sizes_.subspan(1);
    out_->Append(length);
    out_->Append(head);
  }
  MakeValue({});
}

/// Makes the value's field without its number.
void ProtobufWriter::MakeValue(BootTime begin) {
  value_begin_ = begin;
  char* at = value_.data();
  *at++ = TextTag(IsCounter(*family_) ? kCounter : kGauge);
  char* const length = at++;
  *at++ = DoubleTag(kNumber);
  at += sizeof(double);
  if (IsCounter(*family_)) {
    const auto since_epoch = snapshot_.StartOf(begin).time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
    *at++ = TextTag(kCreated);
    char* const created_length = at++;
    *at++ = VarintTag(kSeconds);
    at = PutVarint(at, static_cast<uint64_t>(seconds.count()));
    *at++ = VarintTag(kNanos);
    at = PutVarint(at, static_cast<uint64_t>((since_epoch - seconds).count()));
    *created_length = static_cast<char>(at - created_length - 1);
  }
  *length = static_cast<char>(at - length - 1);
  value_size_ = static_cast<size_t>(at - value_.data());
}

void ProtobufWriter::OpenRow(std::span<Label> fields, const series::Labels& labels, BootTime begin) {
  if (!family_open_) OpenFamily();
  if (begin != value_begin_) MakeValue(begin);
  row_size_ = 0;
  auto value = labels.values.begin();
  for (Label& field : fields) {
    if (!field.is_constant) field.value = Valid(*value++, field.repaired);
    row_size_ += FieldSize(PairSize(field.name, field.value));
  }
  assert(value == labels.values.end());
  row_.clear();
  if (out_ != nullptr)
    series::AppendBytes(row_, row_size_, [&](char* at) {
      for (const Label& field : fields) at = series::PutPair(at, kLabel, field.name, field.value);
    });
  if (labels.further == nullptr) return;
  for (const auto& [name, text] : *labels.further) {
    const std::string_view valid = Valid(text, further_value_);
    row_size_ += FieldSize(PairSize(name, valid));
    if (out_ != nullptr) series::AppendPair(row_, kLabel, name, valid);
  }
}

template <class Value>
void ProtobufWriter::Sample(std::string_view zone, Value value) {
  const size_t size = row_size_ + zone.size() + value_size_;
  if (out_ == nullptr) {
    measured_.back() += FieldSize(size);
    return;
  }
  char* at = out_->Reserve(kMetricHead + size);
  at = PutBytes(PutBytes(series::PutHead(at, kMetric, size), row_), zone);
  static_assert(std::endian::native == std::endian::little);
  const double number = series::AsDouble(value);
  const char* const end = PutBytes(at, {value_.data(), value_size_});
  std::memcpy(at + kNumberAt, &number, sizeof number);
  out_->Commit(end);
}

void ProtobufWriter::Add(const series::Labels& labels, const series::Number& value, BootTime begin) {
  OpenRow(labels_, labels, begin);
  std::visit([&](auto number) { Sample({}, number); }, value);
}

void ProtobufWriter::AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones,
                              const series::Cells& cells, BootTime begin) {
  if (zone_labels_.empty())
    for (const auto& zone : zones)
      series::AppendPair(zone_labels_.emplace_back(), kLabel, labels_.back().name, Repaired(zone.name));
  OpenRow(std::span(labels_).first(labels_.size() - 1), labels, begin);
  const auto write = [&](auto row) {
    for (size_t i = 0; i < zones.size(); ++i) Sample(zone_labels_[i], row[zones[i].index]);
  };
  std::visit(write, cells);
}

}  // namespace kepler::prometheus
