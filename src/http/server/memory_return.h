#pragma once
// Memory after a wave of clients: what hundreds of TLS handshakes took is freed in small blocks, which glibc would
// keep. On the I/O thread.
#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

#include "base/memory_wave.h"
#include "http/server/event_loop.h"

namespace kepler::http::server {

class MemoryReturn {
 public:
  /// Fewer at once are no wave.
  static constexpr size_t kWave = 64;
  /// From the end of a wave; it takes milliseconds, so not at each client that leaves.
  static constexpr std::chrono::milliseconds kDelay{2000};

  explicit MemoryReturn(
      EventLoop& loop, std::chrono::milliseconds delay = kDelay,
      std::function<void()> give_back = [] { ::malloc_trim(0); })
      : delay_(delay), give_back_(std::move(give_back)), timer_(loop) {}

  /// Whenever a connection has come or gone. Memory is given back once no more than a quarter of a wave is left.
  void OnConnections(size_t open) {
    wave_.Note(open);
    if (waiting_ || !wave_.over()) return;
    waiting_ = true;
    timer_.Start(delay_, [this] {
      waiting_ = false;
      if (!wave_.over()) return;  // the next one has begun
      wave_.End();
      give_back_();
    });
  }

 private:
  const std::chrono::milliseconds delay_;
  const std::function<void()> give_back_;
  MemoryWave wave_{kWave};
  bool waiting_ = false;
  Timer timer_;  // keep last: it uses everything above
};

}  // namespace kepler::http::server
