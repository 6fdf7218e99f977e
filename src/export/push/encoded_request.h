#pragma once
// A request of an exporter that pushes, encoded and ready to be sent.
#include <cstdint>

#include "http/client/client.h"

namespace kepler::push {

struct Request {
  http::client::SharedText body{};  // as sent, never null
  uint64_t points = 0;              // data points in it
};

}  // namespace kepler::push
