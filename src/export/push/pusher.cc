#include "export/push/pusher.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/thread.h"

namespace kepler::push {

Pusher::Pusher(Target target, DeliveryOptions options, Nanoseconds interval, Encode encode, const Clock& clock)
    : interval_(interval),
      encode_(std::move(encode)),
      clock_(clock),
      delivery_(std::move(target), std::move(options), clock),
      next_push_(clock.Now()) {}

Pusher::~Pusher() = default;  // the thread is asked to stop, and joined

Status Pusher::Start() {
  const std::string name(delivery_.status().exporter);
  KEPLER_TRY(thread_, StartThread(name, [this](const std::stop_token& stop) { Loop(stop); }));
  return {};
}

void Pusher::Stop() { thread_ = {}; }

BootTime Pusher::Step(const std::stop_token& stop) {
  if (const BootTime now = clock_.Now(); now >= next_push_) {
    delivery_.Open();
    encode_([this](Request request) { delivery_.Add(std::move(request)); });
    next_push_ += (now - next_push_) / interval_ * interval_ + interval_;  // missed pushes are skipped
  } else if (const auto at = delivery_.next_attempt(); at && *at <= now) {
    delivery_.Attempt(stop);
  }
  return std::min(next_push_, delivery_.next_attempt().value_or(next_push_));
}

void Pusher::Loop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Nanoseconds left = Step(stop) - clock_.Now();
    if (left.count() > 0) stopped_.wait_for(lock, stop, left, [] { return false; });
  }
}

}  // namespace kepler::push
