#pragma once
// Reads recordings from JSON in pieces, and writes them. There are two layouts: the file of kepler-model query, which
// Kepler's model server writes too ({"metric": [{"metric": {labels}, "values": [[unix seconds, "number"], ...]}, ...],
// ...}), and the answer of Prometheus to query and query_range
// (https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries). A sample takes 16 bytes. Pure.
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
  kAnswer,     // a list of series at data.result; the label __name__ of a series is its metric, else ""
};

class RecordingReader {
 public:
  explicit RecordingReader(JsonLayout layout, size_t max_samples = kMaxSamples);
  ~RecordingReader();
  /// Reads the next piece. kMalformed, with the position in bytes: invalid JSON, another layout, a value that is not a
  /// number, or an impossible time. kInvalid: more than `max_samples` or kMaxSeries. Do not call it after an error.
  [[nodiscard]] Status Read(std::string_view piece);
  /// Call once, after the last piece.
  [[nodiscard]] Result<Recording> Finish();

 private:
  class Impl;  // hides the JSON library
  std::unique_ptr<Impl> impl_;
};

/// Reads a whole file.
[[nodiscard]] Result<Recording> ReadRecordingJson(std::string_view text);

/// Writes a recording in the layout kRecording.
[[nodiscard]] std::string WriteRecordingJson(const Recording& recording);

}  // namespace kepler::recording
