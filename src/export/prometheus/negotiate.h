#pragma once
// Which format and encoding a scraper wants. Pure; takes any bytes a client may send.
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

/// From the Accept header: the offer of the highest weight that can be served (OpenMetrics 1.0.0, also where 0.0.1 or
/// no version is named: the text is the same; text 0.0.4). A wildcard means text; nothing suitable, malformed or empty
/// too.
[[nodiscard]] Format NegotiateFormat(std::string_view accept);

/// From the Accept-Encoding header: gzip where gzip (or *) has a weight above 0 and not below that of identity, if that
/// one is named.
[[nodiscard]] Encoding NegotiateEncoding(std::string_view accept_encoding);

}  // namespace kepler::prometheus
