#include "export/remote_write/write_message.h"

#include <functional>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <protozero/pbf_writer.hpp>

#include "export/series/protobuf_fields.h"

namespace kepler::remote_write {
namespace {

using protozero::pbf_writer;

// Numbers of fields that both versions have.
constexpr uint32_t kSampleValue = 1, kSampleTime = 2;
constexpr uint32_t kSeriesLabels = 1, kSeriesSamples = 2;
constexpr uint32_t kMetadataType = 1;
constexpr int32_t kCounter = 1, kGauge = 2;
// Those of version 1.0.
constexpr uint32_t kRequestSeries = 1, kRequestMetadata = 3;
constexpr uint32_t kMetadataName = 2, kMetadataHelp = 4, kMetadataUnit = 5;
// Those of version 2.0.
constexpr uint32_t kRequestSymbols = 4, kRequestSeriesV2 = 5;
constexpr uint32_t kSeriesMetadata = 5, kSampleStart = 3;
constexpr uint32_t kHelpRef = 3, kUnitRef = 4;

constexpr std::string_view kZone = "zone";

int32_t TypeNumber(const series::Family& family) { return series::TypeOf(family) == "counter" ? kCounter : kGauge; }

void AddText(pbf_writer& to, uint32_t field, std::string_view text) { to.add_bytes(field, text.data(), text.size()); }

class MessageV1 final : public WriteMessage {
 public:
  void BeginFamily(const series::Family& family) override {
    pbf_writer request(message_);
    pbf_writer metadata(request, kRequestMetadata);
    metadata.add_enum(kMetadataType, TypeNumber(family));
    AddText(metadata, kMetadataName, family.name);
    AddText(metadata, kMetadataHelp, family.help);
    if (!family.unit.empty()) AddText(metadata, kMetadataUnit, family.unit);
  }
  void BeginRow(std::span<const Label> labels) override {
    row_.clear();
    for (const Label& label : labels) series::AppendPair(row_, kSeriesLabels, label.name, label.value);
  }
  void Add(std::string_view zone, const Sample& sample) override {
    rest_.clear();
    if (!zone.empty()) series::AppendPair(rest_, kSeriesLabels, kZone, zone);
    {
      pbf_writer series(rest_);
      pbf_writer writer(series, kSeriesSamples);
      writer.add_double(kSampleValue, sample.value);
      writer.add_int64(kSampleTime, sample.time);
    }
    pbf_writer(message_).add_bytes_vectored(kRequestSeries, row_, rest_);
  }
  [[nodiscard]] size_t size() const override { return message_.size(); }
  [[nodiscard]] std::string_view Finish() override { return message_; }
  void Clear() override { message_.clear(); }

 private:
  std::string message_;
  std::string row_;   // labels of the row
  std::string rest_;  // zone and sample; reused
};

class MessageV2 final : public WriteMessage {
 public:
  void BeginFamily(const series::Family& family) override {
    metadata_.clear();
    pbf_writer series(metadata_);
    pbf_writer metadata(series, kSeriesMetadata);
    metadata.add_enum(kMetadataType, TypeNumber(family));
    metadata.add_uint32(kHelpRef, Ref(family.help));
    metadata.add_uint32(kUnitRef, Ref(family.unit));
  }
  void BeginRow(std::span<const Label> labels) override {
    row_.clear();
    next_ = 0;
    for (const Label& label : labels) AddLabel(row_, label);
  }
  void Add(std::string_view zone, const Sample& sample) override {
    refs_ = row_;
    if (!zone.empty()) AddLabel(refs_, {kZone, zone});
    series_.clear();
    {
      pbf_writer series(series_);
      AddText(series, kSeriesLabels, refs_);  // a packed field
      pbf_writer writer(series, kSeriesSamples);
      writer.add_double(kSampleValue, sample.value);
      writer.add_int64(kSampleTime, sample.time);
      if (sample.start != 0) writer.add_int64(kSampleStart, sample.start);
    }
    pbf_writer(all_series_).add_bytes_vectored(kRequestSeriesV2, series_, metadata_);
  }
  [[nodiscard]] size_t size() const override { return symbols_.size() + all_series_.size(); }
  /// The symbols are first: a server may resolve references while it reads.
  [[nodiscard]] std::string_view Finish() override { return symbols_ += all_series_; }
  void Clear() override {
    symbols_.clear();
    all_series_.clear();
    refs_by_text_.clear();
    last_.clear();
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  /// Returns the index of `text` in the symbols. The first symbol is "".
  uint32_t Ref(std::string_view text) {
    if (refs_by_text_.empty() && !text.empty()) static_cast<void>(Ref(""));
    if (const auto found = refs_by_text_.find(text); found != refs_by_text_.end()) return found->second;
    const auto ref = static_cast<uint32_t>(refs_by_text_.size());
    refs_by_text_.emplace(text, ref);
    pbf_writer request(symbols_);
    AddText(request, kRequestSymbols, text);
    return ref;
  }
  struct Symbol {
    std::string text;
    uint32_t ref = 0;
  };

  void AddLabel(std::string& to, const Label& label) {
    for (const std::string_view text : {label.name, label.value}) {
      if (next_ == last_.size()) last_.emplace_back();
      Symbol& last = last_[next_++];
      if (last.text != text) last = {std::string(text), Ref(text)};
      protozero::add_varint_to_buffer(&to, last.ref);
    }
  }

  // Texts of the labels at the same places of the row before, which are mostly the same. They save lookups.
  std::vector<Symbol> last_;
  size_t next_ = 0;  // place of the next text
  boost::unordered_flat_map<std::string, uint32_t, Hash, std::equal_to<>> refs_by_text_;
  std::string symbols_;
  std::string all_series_;
  std::string metadata_;  // of the family
  std::string row_;       // references to the labels of the row
  std::string refs_;      // the same with the zone; reused, as series_
  std::string series_;
};

}  // namespace

std::unique_ptr<WriteMessage> MakeWriteMessage(Version version) {
  if (version == Version::k1) return std::make_unique<MessageV1>();
  return std::make_unique<MessageV2>();
}

}  // namespace kepler::remote_write
