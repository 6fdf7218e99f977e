// Answers of the JSON API that `kepler top` reads.
#include "fuzz.h"
#include "top/readings.h"

void Fuzz(std::string_view text) {
  const auto readings = kepler::top::ReadReadings(text);
  if (readings && readings->rows.size() > text.size()) std::abort();
  if (!readings && readings.error().kind != kepler::ErrorKind::kMalformed) std::abort();
  const auto history = kepler::top::ReadHistory(text);
  if (!history && history.error().kind != kepler::ErrorKind::kMalformed) std::abort();
}
