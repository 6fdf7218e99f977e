#pragma once
// Selects the exposition format and encoding for a scrape request. Pure; accepts any bytes from a client.
#include <cstdint>
#include <string_view>

namespace kepler::prometheus {

enum class Format : uint8_t { kText004, kOpenMetrics100, kProtobuf };
enum class Encoding : uint8_t { kIdentity, kGzip };

/// Returns the Content-Type of the format.
[[nodiscard]] constexpr std::string_view ContentType(Format format) {
  if (format == Format::kProtobuf)
    return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
  return format == Format::kText004 ? "text/plain; version=0.0.4; charset=utf-8"
                                    : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

/// Returns the Content-Encoding; "" means no header.
[[nodiscard]] constexpr std::string_view ContentEncoding(Encoding encoding) {
  return encoding == Encoding::kGzip ? "gzip" : "";
}

/// Selects the format from the Accept header: the supported offer with the highest weight. Supported are OpenMetrics,
/// text 0.0.4, and delimited io.prometheus.client.MetricFamily messages. OpenMetrics 1.0.0 is also sent for version
/// 0.0.1 or no version, because the text is the same. A wildcard selects text. A header that is empty, malformed or
/// without a supported offer selects text too. `escaping` is ignored: no name contains a character to escape.
[[nodiscard]] Format NegotiateFormat(std::string_view accept);

/// Selects the encoding from the Accept-Encoding header. gzip needs a weight (its own or that of *) above 0. If the
/// header names identity, the weight of gzip must not be lower.
[[nodiscard]] Encoding NegotiateEncoding(std::string_view accept_encoding);

}  // namespace kepler::prometheus
