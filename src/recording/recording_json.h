#pragma once
// Recordings as JSON, read as the bytes come: the file that kepler-model query writes, which is that of Kepler's model
// server ({"metric": [{"metric": {labels}, "values": [[unix seconds, "number"], ...]}, ...], ...}), and what Prometheus
// answers to query_range (https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries). A sample takes 16
// bytes, however long its text. Pure.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recording/recording.h"

namespace kepler::recording {

enum class JsonLayout : uint8_t {
  kRecording,  // the file
  kAnswer,     // one list of series, at data.result; each becomes one of the metric in its label __name__, or of ""
};

class RecordingReader {
 public:
  explicit RecordingReader(JsonLayout layout, size_t max_samples = kMaxSamples);
  ~RecordingReader();
  /// kMalformed with the byte: what is no JSON or of another shape, texts that are no numbers, times that cannot be.
  /// kInvalid: more than `max_samples` or kMaxSeries. After an error no more may be read.
  [[nodiscard]] Status Read(std::string_view piece);
  /// To call once, after the last piece.
  [[nodiscard]] Result<Recording> Finish();

 private:
  class Impl;  // keeps the JSON library out of here
  std::unique_ptr<Impl> impl_;
};

/// The whole of a file.
[[nodiscard]] Result<Recording> ReadRecordingJson(std::string_view text);

/// RecordingReader gives it back.
[[nodiscard]] std::string WriteRecordingJson(const Recording& recording);

}  // namespace kepler::recording
