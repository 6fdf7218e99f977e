// Answers of the JSON API that `kepler top` reads.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "top/readings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto readings = kepler::top::ReadReadings(text);
  if (readings && readings->rows.size() > size) std::abort();
  if (!readings && readings.error().kind != kepler::ErrorKind::kMalformed) std::abort();
  const auto history = kepler::top::ReadHistory(text);
  if (!history && history.error().kind != kepler::ErrorKind::kMalformed) std::abort();
  return 0;
}
