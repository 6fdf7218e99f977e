#pragma once
// Pusher: a thread that encodes the latest snapshot at every interval, and sends the requests of a Delivery. It alone
// encodes and sends, so a slow server delays neither ticks nor scrapes. If the disk of the queue hangs, the thread is
// left behind at the end.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread.h"
#include "base/units.h"
#include "export/push/delivery.h"
#include "status/push_status.h"

namespace kepler::push {

/// Encodes the latest data and passes each request to `take`. Passes nothing if there is nothing new.
using Encode = std::function<void(const std::function<void(Request)>& take)>;

class Pusher {
 public:
  /// `interval`: time between two pushes. `encode` is not called after Stop().
  Pusher(Target target, DeliveryOptions options, Nanoseconds interval, Encode encode,
         std::shared_ptr<const Clock> clock);
  /// As Stop(). Requests in memory are lost.
  ~Pusher();
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  /// Starts the thread. The first push follows at once.
  [[nodiscard]] Status Start();
  void RequestStop() {
    if (thread_) thread_->RequestStop();
  }
  /// Ends the request that is being sent, and the thread. One that hangs in the kernel is left behind at `deadline`.
  void Stop(std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::now() + kPatience);
  /// Thread-safe.
  [[nodiscard]] status::PushStatus status() const;
  /// Encodes or sends one request, if its time has come. Returns the time of the next step. For the thread, and for
  /// tests without one.
  [[nodiscard]] BootTime Step(const std::stop_token& stop) { return Step(*state_, stop); }

 private:
  // `encode` may wait for a tick, up to a second.
  static constexpr std::chrono::seconds kPatience{2};
  struct State;
  static BootTime Step(State& state, const std::stop_token& stop);
  static void Loop(State& state, const std::stop_token& stop);

  const std::shared_ptr<State> state_;  // shared with a thread that may be left behind
  std::optional<BlockingThread> thread_;
};

}  // namespace kepler::push
