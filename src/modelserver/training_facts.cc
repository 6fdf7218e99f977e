#include "modelserver/training_facts.h"

#include <fmt/format.h>

#include "base/small_file.h"
#include "json/document.h"
#include "lab/files/files.h"

namespace kepler::modelserver {
namespace {

constexpr size_t kMaxBytes = 4096;

Result<double> ParseTraining(std::string_view text) {
  KEPLER_TRY(const auto document, json::Parse(text));
  KEPLER_TRY(const double until, json::Cursor(document).Number("trained_until"));
  if (until < 0) return Fail(ErrorKind::kMalformed, "trained_until is negative");
  return until;
}

}  // namespace

std::string TrainingText(double until) { return fmt::format("{{\"trained_until\":{:.3f}}}\n", until); }

Result<double> TrainedUntil(const std::string& directory) {
  const std::string path = directory + "/" + kTrainingFile;
  const auto text = ReadSmallFile(path, kMaxBytes);
  if (!text && text.error().kind == ErrorKind::kNotFound) return 0;
  if (!text) return std::unexpected(text.error());
  return lab::files::InFile(path, ParseTraining(*text));
}

}  // namespace kepler::modelserver
