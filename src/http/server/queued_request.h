#pragma once
// QueuedRequest: a request that waits for a worker. If no worker takes it, because the queue is full or the server
// stops, the client gets 503.
#include <memory>
#include <stop_token>
#include <utility>

#include "http/server/message.h"
#include "http/server/server.h"

namespace kepler::http::server {

[[nodiscard]] inline Response Overloaded() {
  return PlainAnswer(503, "too many requests, or the request took too long; try again later");
}

/// A job of a WorkerPool. `handler` must outlive it.
class QueuedRequest {
 public:
  QueuedRequest(const Handler& handler, Request request, Responder answer)
      : handler_(&handler),
        request_(std::move(request)),
        answer_(std::make_unique<const Responder>(std::move(answer))) {}
  QueuedRequest(QueuedRequest&&) noexcept = default;
  QueuedRequest& operator=(QueuedRequest&&) = delete;
  ~QueuedRequest() {
    if (answer_) (*answer_)(Overloaded());
  }
  void operator()(const std::stop_token&) {
    const auto answer = std::exchange(answer_, nullptr);
    if (answer->IsAwaited()) (*handler_)(request_, *answer);
  }

 private:
  const Handler* handler_;
  Request request_;
  std::unique_ptr<const Responder> answer_;  // null once a worker has begun
};

}  // namespace kepler::http::server
