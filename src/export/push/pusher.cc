#include "export/push/pusher.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

namespace kepler::push {

struct Pusher::State {
  State(Target target, DeliveryOptions options, Nanoseconds its_interval, Encode encodes,
        std::shared_ptr<const Clock> its_clock)
      : interval(its_interval),
        encode(std::move(encodes)),
        clock(std::move(its_clock)),
        delivery(std::move(target), std::move(options), *clock),
        next_push(clock->Now()) {}

  const Nanoseconds interval;
  const Encode encode;
  const std::shared_ptr<const Clock> clock;
  Delivery delivery;
  BootTime next_push;
  std::mutex mutex;
  std::condition_variable_any stopped;  // by the stop token only
};

Pusher::Pusher(Target target, DeliveryOptions options, Nanoseconds interval, Encode encode,
               std::shared_ptr<const Clock> clock)
    : state_(std::make_shared<State>(std::move(target), std::move(options), interval, std::move(encode),
                                     std::move(clock))) {}

Pusher::~Pusher() { Stop(); }

Status Pusher::Start() {
  const std::string name(state_->delivery.status().exporter);
  KEPLER_TRY(BlockingThread thread,
             BlockingThread::Start(name, [state = state_](const std::stop_token& stop) { Loop(*state, stop); }));
  thread_.emplace(std::move(thread));
  return {};
}

void Pusher::Stop(std::chrono::steady_clock::time_point deadline) {
  if (thread_) thread_->EndBy(deadline);
  thread_.reset();
}

status::PushStatus Pusher::status() const { return state_->delivery.status(); }

BootTime Pusher::Step(State& state, const std::stop_token& stop) {
  Delivery& delivery = state.delivery;
  if (const BootTime now = state.clock->Now(); now >= state.next_push) {
    delivery.Open();
    if (stop.stop_requested()) return now;  // meanwhile: `encode` may be gone
    state.encode([&](Request request) { delivery.Add(std::move(request)); });
    // Missed pushes are skipped, also those of meanwhile: there must be time left to send.
    const Nanoseconds late = state.clock->Now() - state.next_push;
    state.next_push += late / state.interval * state.interval + state.interval;
  } else if (const auto at = delivery.next_attempt(); at && *at <= now) {
    delivery.Attempt(stop);
  }
  return std::min(state.next_push, delivery.next_attempt().value_or(state.next_push));
}

void Pusher::Loop(State& state, const std::stop_token& stop) {
  std::unique_lock lock(state.mutex);
  while (!stop.stop_requested()) {
    const Nanoseconds left = Step(state, stop) - state.clock->Now();
    if (left.count() > 0) state.stopped.wait_for(lock, stop, left, [] { return false; });
  }
}

}  // namespace kepler::push
