#pragma once
// Which format and encoding a scraper wants. Pure; takes any bytes a client may send.
#include <string_view>

#include "export/prometheus/format.h"

namespace kepler::prometheus {

/// From the Accept header: the offer of the highest weight that can be served (OpenMetrics 1.0.0, also where 0.0.1 or
/// no version is named: the text is the same; text 0.0.4). A wildcard means text; nothing suitable, malformed or empty
/// too.
[[nodiscard]] Format NegotiateFormat(std::string_view accept);

/// From the Accept-Encoding header: gzip where gzip (or *) has a weight above 0 and not below that of identity, if that
/// one is named.
[[nodiscard]] Encoding NegotiateEncoding(std::string_view accept_encoding);

}  // namespace kepler::prometheus
