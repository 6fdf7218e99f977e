#pragma once
// Pusher: a thread that encodes the latest snapshot at every interval, and sends the requests of a Delivery. It alone
// encodes and sends, so a slow server delays neither ticks nor scrapes.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "export/push/delivery.h"
#include "status/push_status.h"

namespace kepler::push {

/// Encodes the latest data and passes each request to `take`. Passes nothing if there is nothing new.
using Encode = std::function<void(const std::function<void(Request)>& take)>;

class Pusher {
 public:
  /// `interval`: time between two pushes. `clock` must outlive the pusher.
  Pusher(Target target, DeliveryOptions options, Nanoseconds interval, Encode encode, const Clock& clock);
  /// Ends the request that is being sent. Requests in memory are lost.
  ~Pusher();
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  /// Starts the thread. The first push follows at once.
  [[nodiscard]] Status Start();
  /// Ends the request that is being sent, and the thread. The destructor does the same.
  void Stop();
  /// Thread-safe.
  [[nodiscard]] status::PushStatus status() const { return delivery_.status(); }
  /// Encodes or sends one request, if its time has come. Returns the time of the next step. For the thread, and for
  /// tests without one.
  [[nodiscard]] BootTime Step(const std::stop_token& stop);

 private:
  void Loop(const std::stop_token& stop);

  const Nanoseconds interval_;
  const Encode encode_;
  const Clock& clock_;
  Delivery delivery_;
  BootTime next_push_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;  // by the stop token only
  std::jthread thread_;                  // keep last: it uses everything above
};

}  // namespace kepler::push
