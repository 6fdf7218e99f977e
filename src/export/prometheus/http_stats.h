#pragma once
// What the HTTP server counted since the start. Filled by the caller: this room knows no server.
#include <cstdint>

namespace kepler::prometheus {

struct HttpStats {
  uint64_t connections = 0;
  uint64_t connections_refused = 0;
  uint64_t connections_evicted = 0;
  uint64_t requests = 0;
  uint64_t requests_denied = 0;
  uint64_t timeouts = 0;
  uint64_t accept_errors = 0;
  uint64_t handshake_errors = 0;
};

}  // namespace kepler::prometheus
