// Both headers that a scraper may fill with anything.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "export/prometheus/negotiate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view header(reinterpret_cast<const char*>(data), size);
  const auto format = kepler::prometheus::NegotiateFormat(header);
  const auto encoding = kepler::prometheus::NegotiateEncoding(header);
  if (header.empty() &&
      (format != kepler::prometheus::Format::kText004 || encoding != kepler::prometheus::Encoding::kIdentity))
    __builtin_trap();
  return 0;
}
