#include "recording/recording_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "json/document.h"
#include "json/stream.h"

namespace kepler::recording {
namespace {

constexpr size_t kMaxText = 4096;  // of a name or a value
constexpr size_t kMaxWarning = 300;
/// The year 9999.
constexpr double kMaxTime = 253'402'300'800;

/// As Prometheus writes them: "1.5", "1e+06", "NaN", "+Inf".
std::optional<double> SampleValue(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return ParseNumber<double>(text);
}

}  // namespace

/// Depths count open objects and lists: a list of series lies at `list_`, a series one deeper, its values one more, a
/// sample one more.
class RecordingReader::Impl final : public json::Visitor {
 public:
  Impl(JsonLayout layout, size_t max_samples) : layout_(layout), max_samples_(max_samples) {}

  Status Read(std::string_view piece) { return stream_.Read(piece); }
  Result<Recording> Finish() {
    KEPLER_CHECK_OK(stream_.Finish());
    if (layout_ == JsonLayout::kAnswer && !found_list_)
      return Fail(ErrorKind::kMalformed, "parse JSON: data.result is missing; the response is not from Prometheus");
    return std::move(recording_);
  }

  Status BeginObject() override {
    ++depth_;
    if (list_ == 0) {
      if (layout_ == JsonLayout::kAnswer || depth_ == 1) return {};
      return Refuse(fmt::format("\"{}\" is not a list of series", SanitizeUtf8(metric_, 80)));
    }
    if (depth_ == list_ + 1) return BeginSeries();
    if (member_ == Member::kMetric && depth_ == list_ + 2) return {};
    return member_ == Member::kOther ? Status() : RefuseShape();
  }
  Status EndObject() override {
    const bool is_series = list_ != 0 && depth_ == list_ + 1;
    --depth_;
    return is_series ? EndSeries() : Status();
  }
  Status BeginList() override {
    ++depth_;
    if (list_ == 0) return OpenList();
    if (depth_ == list_ + 1) return Refuse("a series must be an object");
    if (member_ == Member::kOther) return {};
    if (member_ == Member::kMetric || depth_ > list_ + 3) return RefuseShape();
    if (depth_ == list_ + 2) has_values_ = true;
    parts_ = 0;
    return {};
  }
  Status EndList() override {
    const bool is_sample = InSample();
    if (depth_ == list_) list_ = 0;
    --depth_;
    return is_sample ? EndSample() : Status();
  }
  Status Key(std::string_view key) override {
    if (list_ == 0 && depth_ == 1) metric_ = key;
    if (list_ == 0 && depth_ == 2) inner_ = key;
    if (list_ != 0 && depth_ == list_ + 1)
      member_ = key == "metric" ? Member::kMetric : key == "values" ? Member::kValues : Member::kOther;
    if (list_ != 0 && depth_ == list_ + 2) label_ = key;
    return {};
  }
  Status Text(std::string_view text) override {
    if (list_ != 0 && member_ == Member::kMetric && depth_ == list_ + 2) {
      if (label_ != "__name__")
        series_.labels.emplace_back(label_, text);
      else if (layout_ == JsonLayout::kAnswer)
        into_ = &recording_.metrics[std::string(text)];
      return {};
    }
    if (layout_ == JsonLayout::kAnswer && list_ == 0 && depth_ == 2 && metric_ == "warnings" &&
        recording_.warnings.size() < kMaxWarnings)
      recording_.warnings.emplace_back(text.substr(0, kMaxWarning));
    if (!InSample() || parts_ != 1) return TakeOther();
    const auto value = SampleValue(text);
    if (!value) return Refuse(fmt::format("\"{}\" is not a number", SanitizeUtf8(text, 40)));
    return TakeValue(*value);
  }
  Status Number(double number, std::string_view /*text*/) override {
    if (!InSample() || parts_ > 1) return TakeOther();
    if (parts_ == 1) return TakeValue(number);
    if (!(number >= 0 && number <= kMaxTime)) return Refuse(fmt::format("{} is not a Unix time", number));
    sample_.time = number;
    ++parts_;
    return {};
  }
  Status Literal(std::optional<bool> /*value*/) override { return TakeOther(); }

 private:
  enum class Member : uint8_t { kMetric, kValues, kOther };

  static Status Refuse(std::string why, ErrorKind kind = ErrorKind::kMalformed) { return Fail(kind, std::move(why)); }
  [[nodiscard]] Status RefuseShape() const {
    return Refuse(member_ == Member::kMetric ? "the labels of a series (\"metric\") must be names and texts"
                                             : "the values of a series must be [unix seconds, \"number\"]");
  }
  bool InSample() const { return list_ != 0 && depth_ == list_ + 3 && member_ == Member::kValues; }

  Status OpenList() {
    const bool here =
        layout_ == JsonLayout::kRecording ? depth_ == 2 : depth_ == 3 && metric_ == "data" && inner_ == "result";
    if (here) {
      list_ = depth_;
      found_list_ = true;
      if (layout_ == JsonLayout::kRecording) into_ = &recording_.metrics[metric_];
    } else if (layout_ == JsonLayout::kRecording) {
      return Refuse("a recording must be an object of metrics");
    }
    return {};
  }
  Status BeginSeries() {
    if (++series_count_ > kMaxSeries)
      return Refuse(fmt::format("more than {} series", kMaxSeries), ErrorKind::kInvalid);
    series_ = {};
    if (layout_ == JsonLayout::kAnswer) into_ = nullptr;
    has_values_ = false;
    member_ = Member::kOther;
    return {};
  }
  Status EndSeries() {
    if (!has_values_) return Refuse("a series has no \"values\"; use a range query");
    std::ranges::sort(series_.labels);
    if (into_ == nullptr) into_ = &recording_.metrics[""];
    into_->push_back(std::move(series_));
    return {};
  }
  Status EndSample() {
    if (parts_ != 2) return RefuseShape();
    if (!std::isfinite(sample_.value)) {
      ++recording_.not_finite;
      return {};
    }
    if (++samples_ > max_samples_)
      return Refuse(fmt::format("more than {} samples; use a shorter time or a longer step", max_samples_),
                    ErrorKind::kInvalid);
    series_.samples.push_back(sample_);
    return {};
  }
  Status TakeValue(double value) {
    sample_.value = value;
    ++parts_;
    return {};
  }
  [[nodiscard]] Status TakeOther() const {
    if (list_ == 0) return layout_ == JsonLayout::kAnswer ? Status() : RefuseTop();
    if (depth_ == list_) return Refuse("a series must be an object");
    return member_ == Member::kOther ? Status() : RefuseShape();
  }
  [[nodiscard]] Status RefuseTop() const {
    if (depth_ == 0) return Refuse("a recording must be an object of metrics");
    const bool is_answer = metric_ == "status";
    return Refuse(
        fmt::format("\"{}\" is not a list of series{}", SanitizeUtf8(metric_, 80),
                    is_answer ? "; this is a response of Prometheus, not a recording of kepler-model query" : ""));
  }

  const JsonLayout layout_;
  const size_t max_samples_;
  json::Stream stream_{*this, kMaxText};
  Recording recording_;
  bool found_list_ = false;
  size_t depth_ = 0;
  size_t list_ = 0;  // 0: in none
  std::vector<Series>* into_ = nullptr;
  std::string metric_, inner_, label_;
  Member member_ = Member::kOther;
  Series series_;
  bool has_values_ = false;
  Sample sample_;
  int parts_ = 0;  // of the sample
  size_t samples_ = 0;
  size_t series_count_ = 0;
};

namespace {

void WriteSeries(const Series& series, std::string_view metric, std::string& out) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"metric":{{"__name__":{})", json::Quote(metric));
  for (const auto& [name, value] : series.labels) fmt::format_to(to, ",{}:{}", json::Quote(name), json::Quote(value));
  out += "},\"values\":[";
  for (const Sample& sample : series.samples)
    fmt::format_to(to, R"({}[{},"{}"])", &sample == series.samples.data() ? "" : ",", sample.time, sample.value);
  out += "]}";
}

}  // namespace

RecordingReader::RecordingReader(JsonLayout layout, size_t max_samples)
    : impl_(std::make_unique<Impl>(layout, max_samples)) {}
RecordingReader::~RecordingReader() = default;
Status RecordingReader::Read(std::string_view piece) { return impl_->Read(piece); }
Result<Recording> RecordingReader::Finish() { return impl_->Finish(); }

Result<Recording> ReadRecordingJson(std::string_view text) {
  RecordingReader reader(JsonLayout::kRecording);
  KEPLER_CHECK_OK(reader.Read(text));
  return reader.Finish();
}

std::string WriteRecordingJson(const Recording& recording) {
  std::string out = "{";
  for (const auto& [metric, all] : recording.metrics) {
    out += fmt::format("{}{}:[", out.size() > 1 ? "," : "", json::Quote(metric));
    for (const Series& series : all) {
      if (&series != all.data()) out += ',';
      WriteSeries(series, metric, out);
    }
    out += ']';
  }
  return out += "}\n";
}

}  // namespace kepler::recording
