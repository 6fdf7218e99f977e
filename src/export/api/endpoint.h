#pragma once
// /api/v1/snapshot: answers from the latest snapshot. Runs on the workers of the server: it may wait for a tick, as a
// scrape does.
#include <functional>
#include <string_view>

#include "export/api/renderings.h"
#include "export/series/reading.h"
#include "http/server/server.h"

namespace kepler::api {

/// {"error": "why"}, or a text of JSON. Never stored by caches.
[[nodiscard]] http::server::Response JsonAnswer(http::server::Body body);
[[nodiscard]] http::server::Response JsonError(unsigned status, std::string_view why);

class Endpoint {
 public:
  /// `read` may be called on any thread; a null snapshot means that there is none yet. Both must outlive the endpoint.
  Endpoint(std::function<series::Reading()> read, Renderings& renderings)
      : read_(std::move(read)), renderings_(renderings) {}
  [[nodiscard]] http::server::Response Snapshot(const http::server::Request& request);

 private:
  const std::function<series::Reading()> read_;
  Renderings& renderings_;
};

}  // namespace kepler::api
