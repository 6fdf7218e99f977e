#pragma once
// /api/v1/events: the JSON of each new snapshot as a server-sent event, to at most kMaxViewers clients. A client gets
// the next event when it has read the one before, so a slow client skips ticks and costs no memory; the server cuts it
// when one event takes longer than Limits::write_time. One thread renders for all; it starts with the first client.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "export/api/renderings.h"
#include "export/series/reading.h"
#include "http/server/server.h"

namespace kepler::api {

class EventStreams {
 public:
  static constexpr size_t kMaxViewers = 50;

  /// `latest` must not block. Both must outlive the streams, and the server must stop first. `keep_alive`: time without
  /// a snapshot after which clients get a comment, so that one that is gone leaves its place.
  EventStreams(std::function<series::Reading()> latest, Renderings& renderings,
               std::chrono::milliseconds keep_alive = std::chrono::seconds(10))
      : latest_(std::move(latest)), renderings_(renderings), keep_alive_(keep_alive) {}
  [[nodiscard]] http::server::Response Open(const http::server::Request& request);
  /// A snapshot was published. Quick, without allocation.
  void Publish(uint64_t sequence);

 private:
  struct Viewer {
    std::shared_ptr<const Query> query;
    std::optional<http::server::PieceResponder> waiting{};  // it has read all before
    uint64_t last = 0;                                      // sequence of its last event
  };
  struct Turn {
    std::shared_ptr<const Query> query;
    http::server::PieceResponder responder;
    http::server::Body event{};
  };

  void Loop(const std::stop_token& stop);
  [[nodiscard]] bool IsBehind(const std::weak_ptr<Viewer>& viewer) const;
  /// Moves clients that wait to turns_, without allocation: all of them, or those that have not seen `sequence`.
  void TakeTurns(std::optional<uint64_t> sequence);
  void Send(const snapshot::Snapshot& snapshot, bool stale);
  [[nodiscard]] http::server::Body EventOf(const snapshot::Snapshot& snapshot, bool stale, const Query& query) const;

  const std::function<series::Reading()> latest_;
  Renderings& renderings_;
  const std::chrono::milliseconds keep_alive_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::weak_ptr<Viewer>> viewers_;  // and each Viewer: guarded by mutex_; the streams own them
  uint64_t published_ = 0;                      // guarded by mutex_
  std::vector<Turn> turns_;                     // of thread_, with room for kMaxViewers
  std::jthread thread_;                         // keep last: it uses everything above
};

}  // namespace kepler::api
