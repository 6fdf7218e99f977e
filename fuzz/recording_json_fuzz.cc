// Recordings of Prometheus: whatever the text, what was read is written and read back the same, and rows of it are
// rates.

#include "fuzz.h"
#include "lab/dataset/extract.h"
#include "recording/recording_json.h"

void Fuzz(std::string_view text) {
  namespace dataset = kepler::lab::dataset;
  namespace recording = kepler::recording;
  recording::RecordingReader answer(recording::JsonLayout::kAnswer);
  if (answer.Read(text)) static_cast<void>(answer.Finish());
  auto read = recording::ReadRecordingJson(text);
  if (!read) {
    if (read.error().message.empty()) std::abort();
    return;
  }
  const auto again = recording::ReadRecordingJson(recording::WriteRecordingJson(*read));
  if (!again || again->metrics != read->metrics) std::abort();
  const auto extraction = dataset::ExtractRows(*std::move(read), {.allow_estimates = true});
  if (!extraction) return;
  for (const dataset::Row& row : extraction->rows) {
    if (!(row.end > row.begin) || row.values.size() != extraction->columns.size()) std::abort();
    for (const double value : row.values)
      if (value < 0) std::abort();
  }
}
