#include "http/server/memory_return.h"

#include <algorithm>
#include <utility>

namespace kepler::http {

MemoryReturn::MemoryReturn(EventLoop& loop, std::chrono::milliseconds delay, std::function<void()> give_back)
    : delay_(delay), give_back_(std::move(give_back)), timer_(loop) {}

void MemoryReturn::OnConnections(size_t open) {
  open_ = open;
  peak_ = std::max(peak_, open);
  if (waiting_ || !WaveIsOver()) return;
  waiting_ = true;
  timer_.Start(delay_, [this] {
    waiting_ = false;
    if (!WaveIsOver()) return;  // the next one has begun
    peak_ = open_;
    give_back_();
  });
}

}  // namespace kepler::http
