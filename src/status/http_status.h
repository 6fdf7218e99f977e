#pragma once
// Status of the HTTP server. Filled by http/server. Counters are totals since startup.
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace kepler::status {

/// Requests that were denied, by reason.
struct DeniedRequests {
  uint64_t backoff = 0;         // 429: the client has failed too often
  uint64_t busy = 0;            // 503: the password cannot be checked now, or not in time
  uint64_t no_credentials = 0;  // 401
  uint64_t overload = 0;        // 503: too many requests wait for a handler, or the handler took too long
  uint64_t password = 0;        // 401: wrong user or password
  uint64_t rate_limit = 0;      // 429: the rate limit of the web configuration file
  [[nodiscard]] uint64_t total() const { return backoff + busy + no_credentials + overload + password + rate_limit; }
};

/// Status of the HTTP server. Filled by http/server.
struct HttpStatus {
  uint64_t connections_open = 0;
  uint64_t connections = 0;
  uint64_t connections_refused = 0;  // over the limit
  uint64_t connections_evicted = 0;  // closed at the limit to accept a new connection
  uint64_t requests = 0;
  DeniedRequests requests_denied{};
  uint64_t timeouts = 0;          // connections closed because the client was too slow
  uint64_t accept_errors = 0;     // no descriptor or memory for a new connection; the connection waits in the kernel
  uint64_t handshake_errors = 0;  // TLS
  bool reload_successful = true;  // the latest reload of the configuration succeeded
  WallTime reload_success{};      // time of the latest successful reload; startup counts
  std::optional<WallTime> certificate_expiry{};
};

}  // namespace kepler::status
