#pragma once
// MemoryReturn: gives memory back to the kernel after a wave of clients. Hundreds of TLS handshakes free small blocks,
// which glibc would keep. On the I/O thread.
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
  /// Minimum number of connections at once that count as a wave.
  static constexpr size_t kWave = 64;
  /// Delay after the end of a wave. Giving memory back takes milliseconds, so it is not done for each client.
  static constexpr std::chrono::milliseconds kDelay{2000};

  explicit MemoryReturn(
      EventLoop& loop, std::chrono::milliseconds delay = kDelay,
      std::function<void()> give_back = [] { ::malloc_trim(0); })
      : delay_(delay), give_back_(std::move(give_back)), timer_(loop) {}

  /// Call it when a connection was opened or closed. Memory is given back when at most a quarter of a wave is left.
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
