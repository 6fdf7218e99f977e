#include "export/prometheus/protobuf_writer.h"

#include <bit>
#include <cassert>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include <protozero/buffer_fixed.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/text.h"

namespace kepler::prometheus {
namespace {

// Field numbers of metrics.proto and google/protobuf/timestamp.proto.
enum FamilyField : uint32_t { kName = 1, kHelp = 2, kType = 3, kMetric = 4, kUnit = 5 };
enum MetricField : uint32_t { kLabel = 1, kGauge = 2, kCounter = 3 };
enum LabelField : uint32_t { kLabelName = 1, kLabelValue = 2 };
enum ValueField : uint32_t { kNumber = 1, kCreated = 3 };
enum TimeField : uint32_t { kSeconds = 1, kNanos = 2 };
enum MetricType : int32_t { kTypeCounter = 0, kTypeGauge = 1 };

/// The field `metric` without its content: tag and length.
constexpr size_t kMetricHead = 1 + protozero::max_varint_length;

bool IsCounter(const series::Family& family) { return series::TypeOf(family) == "counter"; }

/// Bytes of a length and of the content after it.
size_t WithLength(size_t content) { return static_cast<size_t>(protozero::length_of_varint(content)) + content; }

/// Makes the field `name` of a label, and the tag of the field `value`.
std::string_view SetNameField(std::string& out, std::string_view name) {
  out.clear();
  protozero::pbf_writer(out).add_string(kLabelName, name.data(), name.size());
  out += static_cast<char>(kLabelValue << 3 | 2);
  return out;
}

/// Bytes of a field `label`.
size_t LabelSize(std::string_view name_field, std::string_view value) {
  return 1 + WithLength(name_field.size() + WithLength(value.size()));
}

/// Appends a field `label`. `value` is valid UTF-8. Rows are mostly labels, so this writes to one piece of memory.
void AppendLabel(std::string& out, std::string_view name_field, std::string_view value) {
  const size_t before = out.size();
  const size_t size = before + LabelSize(name_field, value);
  out.resize_and_overwrite(size, [&](char* text, size_t /*capacity: libstdc++ 12*/) {
    char* at = text + before;
    *at++ = static_cast<char>(kLabel << 3 | 2);
    at += protozero::add_varint_to_buffer(at, name_field.size() + WithLength(value.size()));
    at += name_field.copy(at, name_field.size());
    at += protozero::add_varint_to_buffer(at, value.size());
    value.copy(at, value.size());
    return size;
  });
}

/// Calls f(value), with invalid UTF-8 replaced.
template <class F>
void WithValidUtf8(std::string_view value, const F& f) {
  if (IsValidUtf8(value)) return f(value);
  f(SanitizeUtf8(value, std::numeric_limits<size_t>::max()));
}

}  // namespace

ProtobufWriter::ProtobufWriter(const snapshot::Snapshot& snapshot, std::string_view node_name) : snapshot_(snapshot) {
  if (node_name.empty()) return;
  SetNameField(further_name_, "node_name");
  WithValidUtf8(node_name, [&](std::string_view text) { AppendLabel(node_name_label_, further_name_, text); });
}

ProtobufWriter::ProtobufWriter(const snapshot::Snapshot& snapshot, std::string_view node_name,
                               std::span<const size_t> sizes, TextBuffer& out)
    : ProtobufWriter(snapshot, node_name) {
  out_ = &out;
  sizes_ = sizes;
}

void ProtobufWriter::Begin(const series::Family& family) {
  family_ = &family;
  family_open_ = false;
  before_.clear();
  name_fields_.clear();
  zone_labels_.clear();
  after_.clear();
  for (const std::string_view label : family.labels) {
    if (label == "node_name") {
      after_ = node_name_label_;
      continue;
    }
    before_.push_back(std::exchange(after_, {}));
    SetNameField(name_fields_.emplace_back(), label);
  }
}

void ProtobufWriter::Emit(std::string_view bytes) {
  if (out_ == nullptr)
    measured_.back() += bytes.size();
  else
    out_->Append(bytes);
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
    measured_.push_back(0);
  } else {
    assert(!sizes_.empty());
    std::string length;
    protozero::add_varint_to_buffer(&length, sizes_.front());
    sizes_ = sizes_.subspan(1);
    out_->Append(length);
  }
  Emit(head);
  MakeValue({});
}

/// Makes the value's field with a zero in place of the number. The number is 8 bytes before the start time.
void ProtobufWriter::MakeValue(BootTime begin) {
  created_of_ = begin;
  created_.clear();
  value_.clear();
  protozero::pbf_writer value(value_);
  if (!IsCounter(*family_)) {
    protozero::pbf_writer(value, kGauge).add_double(kNumber, 0);
    return;
  }
  const auto since_epoch = snapshot_.StartOf(begin).time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  {
    protozero::pbf_writer field(created_);
    protozero::pbf_writer time(field, kCreated);
    time.add_int64(kSeconds, seconds.count());
    time.add_int32(kNanos, static_cast<int32_t>((since_epoch - seconds).count()));
  }
  std::string number;
  protozero::pbf_writer(number).add_double(kNumber, 0);
  value.add_bytes_vectored(kCounter, number, created_);
}

void ProtobufWriter::AddLabel(std::string_view name_field, std::string_view value) {
  WithValidUtf8(value, [&](std::string_view text) {
    if (out_ == nullptr)
      row_size_ += LabelSize(name_field, text);
    else
      AppendLabel(row_, name_field, text);
  });
}

void ProtobufWriter::AddConstantLabel(const std::string& label) {
  if (label.empty()) return;
  if (out_ == nullptr)
    row_size_ += label.size();
  else
    row_ += label;
}

void ProtobufWriter::OpenRow(const series::Labels& labels, BootTime begin) {
  if (!family_open_) OpenFamily();
  if (begin != created_of_) MakeValue(begin);
  row_.clear();
  row_size_ = 0;
  for (size_t i = 0; i < labels.values.size(); ++i) {
    AddConstantLabel(before_[i]);
    AddLabel(name_fields_[i], labels.values[i]);
  }
  if (labels.values.size() < before_.size()) AddConstantLabel(before_.back());  // the zone follows
  AddConstantLabel(after_);
  if (labels.further != nullptr)
    for (const auto& [name, text] : *labels.further) AddLabel(SetNameField(further_name_, name), text);
}

void ProtobufWriter::Sample(std::string_view zone, double number) {
  if (out_ == nullptr) {
    measured_.back() += 1 + WithLength(row_size_ + zone.size() + value_.size());
    return;
  }
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(value_.data() + value_.size() - created_.size() - sizeof number, &number, sizeof number);
  const size_t room = kMetricHead + row_.size() + zone.size() + value_.size();
  char* at = out_->Reserve(room);
  protozero::fixed_size_buffer_adaptor buffer(at, room);
  protozero::basic_pbf_writer<protozero::fixed_size_buffer_adaptor>(buffer).add_bytes_vectored(kMetric, row_, zone,
                                                                                               value_);
  out_->Commit(at + buffer.size());
}

void ProtobufWriter::Add(const series::Labels& labels, const series::Number& value, BootTime begin) {
  assert(labels.values.size() == name_fields_.size());
  OpenRow(labels, begin);
  Sample({}, std::visit([](auto number) { return series::AsDouble(number); }, value));
}

void ProtobufWriter::AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones,
                              const series::Cells& cells, BootTime begin) {
  assert(labels.values.size() + 1 == name_fields_.size());
  if (zone_labels_.empty())
    for (const auto& zone : zones)
      WithValidUtf8(zone.name, [&](std::string_view name) {
        AppendLabel(zone_labels_.emplace_back(), name_fields_.back(), name);
      });
  OpenRow(labels, begin);
  const auto write = [&](auto row) {
    for (size_t i = 0; i < zones.size(); ++i) Sample(zone_labels_[i], series::AsDouble(row[zones[i].index]));
  };
  std::visit(write, cells);
}

}  // namespace kepler::prometheus
