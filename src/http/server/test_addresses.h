#pragma once
// Clients by number, for the tests of what is shared fairly among them.
#include <cstddef>

#include "http/server/client_address.h"

namespace kepler::http::server::testing {

/// Of the network 10.0.0.0/24 up to 255, and of others above.
inline ClientAddress Client(size_t number) {
  return {.prefix = {10, static_cast<unsigned char>(number >> 16), static_cast<unsigned char>(number >> 8),
                     static_cast<unsigned char>(number)}};
}

}  // namespace kepler::http::server::testing
