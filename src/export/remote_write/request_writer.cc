#include "export/remote_write/request_writer.h"

#include <snappy.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>
#include <variant>

#include "base/text.h"

namespace kepler::remote_write {
namespace {

int64_t UnixMilliseconds(WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

constexpr uint64_t kStaleMarker = 0x7FF0000000000002U;  // a NaN: value.StaleNaN of Prometheus

/// Returns the hash of a text after that of other texts.
uint64_t Mix(uint64_t hash, std::string_view text) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15U;  // 2^64 ÷ the golden ratio
  return (hash ^ std::hash<std::string_view>()(text)) * kOdd + (hash >> 29);
}

}  // namespace

RequestWriter::RequestWriter(WriterOptions options, std::function<series::Reading()> read)
    : options_(std::move(options)), read_(std::move(read)), message_(MakeWriteMessage(options_.version)) {}

void RequestWriter::Encode(const std::function<void(push::Request)>& take) {
  const series::Reading reading = read_();
  if (!reading.snapshot || (last_snapshot_ && reading.snapshot->sequence == last_snapshot_->sequence)) return;
  snapshot_ = reading.snapshot.get();
  take_ = &take;
  time_ = UnixMilliseconds(snapshot_->taken_at);
  keys_.clear();
  const uint64_t last_sum = std::exchange(sum_of_keys_, 0);
  is_ending_ = false;
  series::VisitSeries(*snapshot_, options_.selection, series::ExtrasOf(reading), *this);
  is_ending_ = true;
  if (last_snapshot_ && sum_of_keys_ != last_sum)
    series::VisitSeries(*last_snapshot_, options_.selection, series::ExtrasOf(last_), *this);
  Flush();
  Keep(reading);
}

void RequestWriter::Keep(const series::Reading& reading) {
  if (!last_snapshot_) last_snapshot_ = std::make_shared<snapshot::Snapshot>();
  *last_snapshot_ = *reading.snapshot;
  last_ = reading;
  last_.snapshot = last_snapshot_;
}

void RequestWriter::Begin(const series::Family& family) {
  family_ = &family;
  is_sent_ = !series::IsAboutPage(family);
  is_family_open_ = false;
  template_.assign({{"__name__", family.name}, {"instance", options_.instance}, {"job", options_.job}});
  for (const std::string_view name : family.labels)
    template_.push_back(
        {NameOf(name), name == "node_name" ? std::string_view(options_.node_name) : std::string_view()});
  std::ranges::sort(template_, {}, &Label::name);
  family_key_ = 0;
  for (const Label& label : template_) family_key_ = Mix(Mix(family_key_, label.name), label.value);
  value_at_.clear();
  for (const std::string_view name : family.labels)
    if (name != "node_name")
      value_at_.push_back(
          static_cast<size_t>(std::ranges::lower_bound(template_, NameOf(name), {}, &Label::name) - template_.begin()));
}

/// A label of a family with the name of a label of the target is renamed, as by a server that scrapes.
std::string_view RequestWriter::NameOf(std::string_view label) const {
  if (label == "instance" && !options_.instance.empty()) return "exported_instance";
  if (label == "job" && !options_.job.empty()) return "exported_job";
  return label;
}

void RequestWriter::MakeRow(const series::Labels& labels) {
  is_row_open_ = false;
  repaired_.clear();
  row_ = template_;
  row_key_ = family_key_;
  for (size_t i = 0; i < labels.values.size(); ++i) {
    const std::string_view value = Valid(labels.values[i]);
    row_[value_at_[i]].value = value;
    row_key_ = Mix(row_key_, value);
  }
  if (labels.further != nullptr && !labels.further->empty()) {
    for (const auto& [name, value] : *labels.further) {
      if (value.empty()) continue;  // an empty label is no label, also in the key
      row_.push_back({name, Valid(value)});
      row_key_ = Mix(Mix(row_key_, name), row_.back().value);
    }
    std::ranges::sort(row_, {}, &Label::name);
  }
  // The zone of AddZones() has no value here.
  std::erase_if(row_, [](const Label& label) { return label.value.empty(); });
}

void RequestWriter::OpenRow() {
  if (series_ >= kMaxSeries || message_->size() >= kMaxBytes) Flush();
  if (!std::exchange(is_family_open_, true)) message_->BeginFamily(*family_);
  message_->BeginRow(row_);
}

std::string_view RequestWriter::Valid(std::string_view value) {
  if (IsValidUtf8(value)) return value;
  return repaired_.emplace_back(SanitizeUtf8(value, std::numeric_limits<size_t>::max()));
}

void RequestWriter::Add(const series::Labels& labels, const series::Number& value, BootTime begin) {
  if (!is_sent_) return;
  MakeRow(labels);
  AddSample({}, std::visit([](auto number) { return series::AsDouble(number); }, value), begin);
}

void RequestWriter::AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones,
                             const series::Cells& cells, BootTime begin) {
  if (!is_sent_) return;
  MakeRow(labels);
  const auto add = [&](auto row) {
    for (const series::ZoneLabel& zone : zones) AddSample(Valid(zone.name), series::AsDouble(row[zone.index]), begin);
  };
  std::visit(add, cells);
}

void RequestWriter::AddSample(std::string_view zone, double value, BootTime begin) {
  const uint64_t key = Mix(row_key_, zone);
  if (is_ending_ && keys_.contains(key)) return;
  if (!std::exchange(is_row_open_, true)) OpenRow();
  if (is_ending_) {
    message_->Add(zone, {.value = std::bit_cast<double>(kStaleMarker), .time = time_});
  } else {
    if (keys_.insert(key).second) sum_of_keys_ += key;
    message_->Add(zone, {.value = value, .time = time_, .start = StartOf(begin)});
  }
  ++series_;
}

/// 0: unknown. A server may refuse a start that is not before the sample.
int64_t RequestWriter::StartOf(BootTime begin) const {
  if (options_.version == Version::k1 || series::TypeOf(*family_) != "counter") return 0;
  const int64_t start = UnixMilliseconds(snapshot_->StartOf(begin));
  return start < time_ ? start : 0;
}

void RequestWriter::Flush() {
  if (series_ == 0) return;
  const std::string_view plain = message_->Finish();
  snappy::Compress(plain.data(), plain.size(), &compressed_);
  message_->Clear();
  (*take_)({.body = std::make_shared<const std::string>(compressed_), .points = std::exchange(series_, 0)});
  is_family_open_ = false;
}

}  // namespace kepler::remote_write
