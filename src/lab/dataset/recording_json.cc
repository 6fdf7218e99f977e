#include "lab/dataset/recording_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <boost/json/basic_parser_impl.hpp>

#include "base/parse.h"
#include "base/text.h"
#include "model/json.h"

namespace kepler::lab::dataset {
namespace {

using boost::system::error_code;

constexpr size_t kMaxText = 4096;  // of a name or a value
/// The year 9999.
constexpr double kMaxTime = 253'402'300'800;

/// As Prometheus writes them: "1.5", "1e+06", "NaN", "+Inf".
std::optional<double> SampleValue(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return ParseNumber<double>(text);
}

}  // namespace

namespace internal {  // RecordingReader::Impl has one, so that it cannot be this file's alone

/// What the parser meets; its names are the library's. Depths count open objects and lists: a list of series lies at
/// `list_`, a series one deeper, its values one more, a sample one more.
class SeriesHandler {
 public:
  static constexpr size_t max_object_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)
  static constexpr size_t max_array_size = SIZE_MAX;   // NOLINT(readability-identifier-naming)
  static constexpr size_t max_key_size = kMaxText;     // NOLINT(readability-identifier-naming)
  static constexpr size_t max_string_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)

  Recording recording;
  Error refusal;  // where its message is not empty: our own
  bool found_list = false;

  explicit SeriesHandler(JsonLayout layout) : layout_(layout) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& error) {
    ++depth_;
    if (list_ == 0) {
      if (layout_ == JsonLayout::kAnswer || depth_ == 1) return true;
      return Refuse(fmt::format("\"{}\" is no list of series", SanitizeUtf8(metric_, 80)), error);
    }
    if (depth_ == list_ + 1) return BeginSeries(error);
    if (member_ == Member::kMetric && depth_ == list_ + 2) return true;
    return member_ == Member::kOther || RefuseShape(error);
  }
  bool on_object_end(size_t, error_code& error) {
    const bool is_series = list_ != 0 && depth_ == list_ + 1;
    --depth_;
    return !is_series || EndSeries(error);
  }
  bool on_array_begin(error_code& error) {
    ++depth_;
    if (list_ == 0) return OpenList(error);
    if (depth_ == list_ + 1) return Refuse("a series is an object", error);
    if (member_ == Member::kOther) return true;
    if (member_ == Member::kMetric || depth_ > list_ + 3) return RefuseShape(error);
    if (depth_ == list_ + 2) has_values_ = true;
    parts_ = 0;
    return true;
  }
  bool on_array_end(size_t, error_code& error) {
    const bool is_sample = InSample();
    if (depth_ == list_) list_ = 0;
    --depth_;
    return !is_sample || EndSample(error);
  }
  bool on_key_part(std::string_view part, size_t, error_code&) { return Collect(part); }
  bool on_key(std::string_view part, size_t, error_code&) {
    Collect(part);
    if (list_ == 0 && depth_ == 1) metric_ = text_;
    if (list_ == 0 && depth_ == 2) inner_ = text_;
    if (list_ != 0 && depth_ == list_ + 1)
      member_ = text_ == "metric" ? Member::kMetric : text_ == "values" ? Member::kValues : Member::kOther;
    if (list_ != 0 && depth_ == list_ + 2) label_ = text_;
    text_.clear();
    return true;
  }
  bool on_string_part(std::string_view part, size_t, error_code&) { return Collect(part); }
  bool on_string(std::string_view part, size_t, error_code& error) {
    Collect(part);
    const bool taken = TakeText(error);
    text_.clear();
    return taken;
  }
  bool on_number_part(std::string_view, error_code&) { return true; }
  bool on_int64(int64_t number, std::string_view, error_code& error) {
    return TakeNumber(static_cast<double>(number), error);
  }
  bool on_uint64(uint64_t number, std::string_view, error_code& error) {
    return TakeNumber(static_cast<double>(number), error);
  }
  bool on_double(double number, std::string_view, error_code& error) { return TakeNumber(number, error); }
  bool on_bool(bool, error_code& error) { return TakeOther(error); }
  bool on_null(error_code& error) { return TakeOther(error); }
  bool on_comment_part(std::string_view, error_code&) { return true; }
  bool on_comment(std::string_view, error_code&) { return true; }

 private:
  enum class Member : uint8_t { kMetric, kValues, kOther };

  bool Refuse(std::string why, error_code& error, ErrorKind kind = ErrorKind::kMalformed) {
    refusal = {kind, std::move(why)};
    error = boost::json::error::incomplete;  // any: the refusal is what is told
    return false;
  }
  bool RefuseShape(error_code& error) {
    return Refuse(member_ == Member::kMetric ? "the labels of a series (\"metric\") are names and texts"
                                             : "the values of a series are [unix seconds, \"number\"]",
                  error);
  }
  /// What is longer is cut: nobody asks for it.
  bool Collect(std::string_view part) {
    text_ += part.substr(0, kMaxText - text_.size());
    return true;
  }
  bool InSample() const { return list_ != 0 && depth_ == list_ + 3 && member_ == Member::kValues; }

  bool OpenList(error_code& error) {
    const bool here =
        layout_ == JsonLayout::kRecording ? depth_ == 2 : depth_ == 3 && metric_ == "data" && inner_ == "result";
    if (here) {
      list_ = depth_;
      found_list = true;
      into_ = &recording.metrics[layout_ == JsonLayout::kRecording ? metric_ : std::string()];
    } else if (layout_ == JsonLayout::kRecording) {
      return Refuse("a recording is an object of metrics", error);
    }
    return true;
  }
  bool BeginSeries(error_code& error) {
    if (++series_count_ > kMaxSeries)
      return Refuse(fmt::format("more than {} series", kMaxSeries), error, ErrorKind::kInvalid);
    series_ = {};
    has_values_ = false;
    member_ = Member::kOther;
    return true;
  }
  bool EndSeries(error_code& error) {
    if (!has_values_) return Refuse("a series has no \"values\": only ranges have some", error);
    std::ranges::sort(series_.labels);
    into_->push_back(std::move(series_));
    return true;
  }
  bool EndSample(error_code& error) {
    if (parts_ != 2) return RefuseShape(error);
    if (!std::isfinite(sample_.value)) {
      ++recording.not_finite;
      return true;
    }
    if (++samples_ > kMaxSamples)
      return Refuse(fmt::format("more than {} samples; take a shorter time or a longer step", kMaxSamples), error,
                    ErrorKind::kInvalid);
    series_.samples.push_back(sample_);
    return true;
  }
  bool TakeText(error_code& error) {
    if (list_ == 0) return layout_ == JsonLayout::kAnswer || RefuseTop(error);
    if (depth_ == list_) return Refuse("a series is an object", error);
    if (member_ == Member::kMetric && depth_ == list_ + 2) {
      if (label_ != "__name__") series_.labels.emplace_back(label_, text_);
      return true;
    }
    if (member_ == Member::kOther) return true;
    if (!InSample() || parts_ != 1) return RefuseShape(error);
    const auto value = SampleValue(text_);
    if (!value) return Refuse(fmt::format("\"{}\" is no number", SanitizeUtf8(text_, 40)), error);
    return TakeValue(*value);
  }
  bool TakeValue(double value) {
    sample_.value = value;
    ++parts_;
    return true;
  }
  bool TakeNumber(double number, error_code& error) {
    if (!InSample() || parts_ > 1) return TakeOther(error);
    if (parts_ == 1) return TakeValue(number);
    if (!(number >= 0 && number <= kMaxTime)) return Refuse(fmt::format("{} is no Unix time", number), error);
    sample_.time = number;
    ++parts_;
    return true;
  }
  bool TakeOther(error_code& error) {
    if (list_ == 0) return layout_ == JsonLayout::kAnswer || RefuseTop(error);
    if (depth_ == list_) return Refuse("a series is an object", error);
    return member_ == Member::kOther || RefuseShape(error);
  }
  bool RefuseTop(error_code& error) {
    if (depth_ == 0) return Refuse("a recording is an object of metrics", error);
    const bool is_answer = metric_ == "status";
    return Refuse(fmt::format("\"{}\" is no list of series{}", SanitizeUtf8(metric_, 80),
                              is_answer ? "; this is an answer of Prometheus, not what kepler-model query writes" : ""),
                  error);
  }

  const JsonLayout layout_;
  size_t depth_ = 0;
  size_t list_ = 0;  // 0: in none
  std::vector<Series>* into_ = nullptr;
  std::string metric_, inner_, label_, text_;
  Member member_ = Member::kOther;
  Series series_;
  bool has_values_ = false;
  Sample sample_;
  int parts_ = 0;  // of the sample
  size_t samples_ = 0;
  size_t series_count_ = 0;
};

}  // namespace internal

namespace {

void WriteSeries(const Series& series, std::string_view metric, std::string& out) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"metric":{{"__name__":{})", model::JsonText(metric));
  for (const auto& [name, value] : series.labels)
    fmt::format_to(to, ",{}:{}", model::JsonText(name), model::JsonText(value));
  out += "},\"values\":[";
  for (const Sample& sample : series.samples)
    fmt::format_to(to, R"({}[{},"{}"])", &sample == series.samples.data() ? "" : ",", sample.time, sample.value);
  out += "]}";
}

}  // namespace

class RecordingReader::Impl {
 public:
  explicit Impl(JsonLayout layout) : layout_(layout), parser_(boost::json::parse_options{}, layout) {}

  Status Read(std::string_view piece) {
    if (piece.empty()) return {};
    error_code error;
    const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
    bytes_ += read;
    const std::string_view what = error && bytes_ == read ? model::WhatInPlaceOfJson(piece) : "";
    if (!what.empty()) return Fail(ErrorKind::kMalformed, std::string(what));
    if (error) return Refuse(error);
    if (read < piece.size() && piece.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
      return Fail(ErrorKind::kMalformed, fmt::format("parse JSON: more text behind byte {}", bytes_));
    return {};
  }
  Result<Recording> Finish() {
    error_code error;
    if (!parser_.done()) static_cast<void>(parser_.write_some(false, nullptr, 0, error));
    if (error) return Refuse(error);
    if (layout_ == JsonLayout::kAnswer && !parser_.handler().found_list)
      return Fail(ErrorKind::kMalformed, "parse JSON: it has no data.result as Prometheus answers");
    return std::move(parser_.handler().recording);
  }

 private:
  std::unexpected<Error> Refuse(const error_code& error) {
    const Error& own = parser_.handler().refusal;
    return Fail(
        own.message.empty() ? ErrorKind::kMalformed : own.kind,
        fmt::format("parse JSON, near byte {}: {}", bytes_, own.message.empty() ? error.message() : own.message));
  }

  const JsonLayout layout_;
  uint64_t bytes_ = 0;
  boost::json::basic_parser<internal::SeriesHandler> parser_;
};

RecordingReader::RecordingReader(JsonLayout layout) : impl_(std::make_unique<Impl>(layout)) {}
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
    out += fmt::format("{}{}:[", out.size() > 1 ? "," : "", model::JsonText(metric));
    for (const Series& series : all) {
      if (&series != all.data()) out += ',';
      WriteSeries(series, metric, out);
    }
    out += ']';
  }
  return out += "}\n";
}

}  // namespace kepler::lab::dataset
