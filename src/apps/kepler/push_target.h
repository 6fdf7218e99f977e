#pragma once
// The server of an exporter that pushes: its URL, TLS, login and timeout, from the keys that all such exporters have.
#include <string>
#include <string_view>

#include "apps/kepler/config.h"
#include "base/result.h"
#include "export/push/delivery.h"
#include "export/push/header_text.h"
#include "http/client/client.h"

namespace kepler::agent {

/// Names of keys, for errors.
struct PushKeys {
  std::string_view section;  // "exporter.otlp"
  std::string_view url;      // of the server, without the section
};

/// `exporter`: for metrics and the log. `request`: what the protocol adds to each request; if it has a target, the URL
/// has no path. `header_pairs`: further headers as in OTEL_EXPORTER_OTLP_HEADERS. `check`: of the headers. Logs the
/// URL. Errors: a URL, header or certificate that cannot be used; the message begins with the path of the key. Later
/// changes of the files take effect with the next request.
[[nodiscard]] Result<push::Target> MakeTarget(std::string_view exporter, const PushKeys& keys, const PushServer& server,
                                              http::client::ClientRequest request, std::string header_pairs = {},
                                              push::HeaderCheck check = http::client::CheckHeader);

}  // namespace kepler::agent
