#pragma once
// The two exposition formats and the two ways to send them.
#include <cstdint>
#include <string_view>

namespace kepler::prometheus {

enum class Format : uint8_t { kText004, kOpenMetrics100 };
enum class Encoding : uint8_t { kIdentity, kGzip };

/// The Content-Type that names the format.
[[nodiscard]] constexpr std::string_view ContentType(Format format) {
  return format == Format::kText004 ? "text/plain; version=0.0.4; charset=utf-8"
                                    : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

/// The Content-Encoding; "" is to be left out.
[[nodiscard]] constexpr std::string_view ContentEncoding(Encoding encoding) {
  return encoding == Encoding::kGzip ? "gzip" : "";
}

}  // namespace kepler::prometheus
