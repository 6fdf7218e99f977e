#pragma once
// What the HTTP server counted since the start. Filled by the caller: this room knows no server.
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace kepler::prometheus {

struct DeniedRequests {  // by reason
  uint64_t backoff = 0;
  uint64_t busy = 0;
  uint64_t no_credentials = 0;
  uint64_t password = 0;
  uint64_t rate_limit = 0;
};

struct HttpStats {
  uint64_t connections = 0;
  uint64_t connections_refused = 0;
  uint64_t connections_evicted = 0;
  uint64_t requests = 0;
  DeniedRequests requests_denied{};
  uint64_t timeouts = 0;
  uint64_t accept_errors = 0;
  uint64_t handshake_errors = 0;
  bool reload_successful = true;  // of the configuration, by the server that answers
  WallTime reload_success{};      // when that last worked
  std::optional<WallTime> certificate_expiry{};
};

}  // namespace kepler::prometheus
