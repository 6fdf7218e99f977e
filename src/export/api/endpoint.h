#pragma once
// The JSON API: /api/v1/snapshot, /api/v1/history, /api/v1/events (docs/api.md). It reads snapshots only.
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/units.h"
#include "export/api/event_streams.h"
#include "export/api/power_history.h"
#include "export/api/renderings.h"
#include "export/series/reading.h"
#include "http/server/server.h"
#include "snapshot/snapshot.h"

namespace kepler::api {

/// {"error": "why"}, or a text of JSON. Never stored by caches.
[[nodiscard]] http::server::Response JsonAnswer(http::server::Body body);
[[nodiscard]] http::server::Response JsonError(unsigned status, std::string_view why);

class Endpoint {
 public:
  /// The latest snapshot, null before the first. `fresh` may wait for a tick, as a scrape does; `latest` may not. Both
  /// are called on any thread and must outlive the endpoint.
  struct Readers {
    std::function<series::Reading()> fresh;
    std::function<series::Reading()> latest;
  };
  /// `interval`: of the ticks.
  Endpoint(Source source, Nanoseconds interval, Readers readers);

  /// The endpoint must outlive the server's Stop().
  void AddRoutes(http::server::Server& server);
  /// Takes each new snapshot, on the collection thread.
  void Observe(const snapshot::Snapshot& snapshot);

  [[nodiscard]] const Readers& readers() const { return readers_; }
  [[nodiscard]] const PowerHistory& history() const { return history_; }
  [[nodiscard]] uint32_t gates() const { return renderings_.source().gates; }

  // On a worker of the server.
  [[nodiscard]] http::server::Response Snapshot(const http::server::Request& request);
  [[nodiscard]] http::server::Response History(const http::server::Request& request);

 private:
  const Readers readers_;
  Renderings renderings_;
  PowerHistory history_;
  EventStreams events_;  // keep last: its thread uses what is above
};

}  // namespace kepler::api
