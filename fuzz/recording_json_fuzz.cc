// Recordings of Prometheus: whatever the text, what was read is written and read back the same, and rows of it are
// rates.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/dataset/extract.h"
#include "recording/recording_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace dataset = kepler::lab::dataset;
  namespace recording = kepler::recording;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  recording::RecordingReader answer(recording::JsonLayout::kAnswer);
  if (answer.Read(text)) static_cast<void>(answer.Finish());
  auto read = recording::ReadRecordingJson(text);
  if (!read) {
    if (read.error().message.empty()) std::abort();
    return 0;
  }
  const auto again = recording::ReadRecordingJson(recording::WriteRecordingJson(*read));
  if (!again || again->metrics != read->metrics) std::abort();
  const auto extraction = dataset::ExtractRows(*std::move(read), {.allow_estimates = true});
  if (!extraction) return 0;
  for (const dataset::Row& row : extraction->rows) {
    if (!(row.end > row.begin) || row.values.size() != extraction->columns.size()) std::abort();
    for (const double value : row.values)
      if (value < 0) std::abort();
  }
  return 0;
}
