// Both headers that a scraper may fill with anything.
#include "export/prometheus/negotiate.h"
#include "fuzz.h"

void Fuzz(std::string_view header) {
  const auto format = kepler::prometheus::NegotiateFormat(header);
  const auto encoding = kepler::prometheus::NegotiateEncoding(header);
  if (header.empty() &&
      (format != kepler::prometheus::Format::kText004 || encoding != kepler::prometheus::Encoding::kIdentity))
    __builtin_trap();
}
