#include "export/api/event_streams.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/thread.h"
#include "export/api/endpoint.h"

namespace kepler::api {

http::server::Response EventStreams::Open(const http::server::Request& request) {
  auto query = ParseQuery(request.query, renderings_.source().gates);
  if (!query) return JsonError(400, query.error().message);
  const std::scoped_lock lock(mutex_);
  std::erase_if(viewers_, [](const auto& viewer) { return viewer.expired(); });
  if (viewers_.size() >= kMaxViewers) return JsonError(503, "too many viewers; try again later");
  if (!thread_.joinable()) {
    turns_.reserve(kMaxViewers);
    auto thread = StartThread("events", [this](const std::stop_token& stop) { Loop(stop); });
    if (!thread) return JsonError(503, thread.error().message);
    thread_ = *std::move(thread);
  }
  const auto viewer = std::make_shared<Viewer>(Viewer{.query = std::make_shared<const Query>(*std::move(query))});
  viewers_.push_back(viewer);
  http::server::Response response = JsonAnswer(nullptr);
  response.content_type = "text/event-stream";
  response.pieces = [this, viewer](http::server::PieceResponder responder) {
    const std::scoped_lock guard(mutex_);
    viewer->waiting = std::move(responder);
    changed_.notify_one();
  };
  return response;
}

void EventStreams::Publish(uint64_t sequence) {
  const std::scoped_lock lock(mutex_);
  published_ = sequence;
  if (!viewers_.empty()) changed_.notify_one();
}

bool EventStreams::IsBehind(const std::weak_ptr<Viewer>& viewer) const {
  const auto alive = viewer.lock();
  return alive && alive->waiting && alive->last < published_;
}

void EventStreams::Loop(const std::stop_token& stop) {
  const auto someone_is_behind = [this] {
    return std::ranges::any_of(viewers_, [this](const auto& viewer) { return IsBehind(viewer); });
  };
  // A line that clients ignore (HTML standard, section 9.2).
  const auto comment = std::make_shared<const std::string>(": no new snapshot\n\n");
  while (true) {
    series::Reading reading;
    {
      std::unique_lock lock(mutex_);
      const bool is_behind = changed_.wait_for(lock, stop, keep_alive_, someone_is_behind);
      if (stop.stop_requested()) return;
      if (is_behind) {
        reading = latest_();
        TakeTurns(std::max(published_, reading.snapshot->sequence));
      } else {
        TakeTurns(std::nullopt);
      }
    }
    if (reading.snapshot) {
      Send(*reading.snapshot, reading.stale);
    } else {
      for (const Turn& turn : turns_) turn.responder(comment);
    }
    turns_.clear();
  }
}

void EventStreams::TakeTurns(std::optional<uint64_t> sequence) {
  for (const auto& viewer : viewers_) {
    if (sequence && !IsBehind(viewer)) continue;
    const auto alive = viewer.lock();
    if (!alive || !alive->waiting) continue;
    if (sequence) alive->last = *sequence;
    turns_.push_back({alive->query, *std::exchange(alive->waiting, std::nullopt)});
  }
}

void EventStreams::Send(const snapshot::Snapshot& snapshot, bool stale) {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    const auto same =
        std::find_if(turns_.begin(), turn, [&](const Turn& other) { return *other.query == *turn->query; });
    turn->event = same != turn ? same->event : EventOf(snapshot, stale, *turn->query);
    turn->responder(turn->event);  // null ends the stream, and the client connects again
  }
}

http::server::Body EventStreams::EventOf(const snapshot::Snapshot& snapshot, bool stale, const Query& query) const {
  try {
    const auto json = renderings_.Get(snapshot, stale, query);
    return json ? renderings_.Hold("event: tick\ndata: " + *json + "\n") : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace kepler::api
