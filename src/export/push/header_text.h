#pragma once
// Headers of requests as texts: a file, and the form of OpenTelemetry's
// environment variables. Both may have secrets, so no error repeats them. Pure.
#include <functional>
#include <string_view>

#include "base/result.h"
#include "http/client/client.h"

namespace kepler::push {

inline constexpr size_t kMaxHeaders = 100;

/// Checks a name and a value, such as http::client::CheckHeader(). Errors do not have the value.
using HeaderCheck = std::function<Status(std::string_view name, std::string_view value)>;

/// Adds the headers of a file, one line "Name: value" for each. Empty lines and lines that begin with # are skipped.
/// `Authorization: Bearer TOKEN` and `Authorization: Basic TEXT` become the login of the request. `check`: for the
/// other headers. kMalformed: the message has the number of the line.
[[nodiscard]] Status AddHeaderLines(std::string_view text, http::client::ClientRequest& request,
                                    const HeaderCheck& check = http::client::CheckHeader);

/// The same for "name=value,name=value" with %XX in values (W3C Baggage, as OTEL_EXPORTER_OTLP_HEADERS). The message
/// has the number of the pair.
[[nodiscard]] Status AddHeaderPairs(std::string_view text, http::client::ClientRequest& request,
                                    const HeaderCheck& check = http::client::CheckHeader);

}  // namespace kepler::push
