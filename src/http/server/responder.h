#pragma once
// The way of an answer from any thread back to its connection.
#include <cstdint>
#include <memory>

#include "http/server/event_loop.h"
#include "http/server/server.h"

namespace kepler::http {

class Connection;

/// The loop stays alive until the last copy is dropped, so that answering a stopped server is harmless.
[[nodiscard]] std::shared_ptr<Responder::Impl> MakeResponderImpl(std::shared_ptr<EventLoop> loop,
                                                                 std::weak_ptr<Connection> connection,
                                                                 uint64_t request);

}  // namespace kepler::http
