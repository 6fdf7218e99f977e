#pragma once
// Patience: decides when a request that fails at each attempt is given up, so that the requests behind it are sent. Not
// thread-safe.
#include <chrono>

#include "base/clock.h"

namespace kepler::push {

class Patience {
 public:
  static constexpr unsigned kFailures = 10;
  static constexpr std::chrono::hours kTime{1};

  /// Counts a failure. Returns true if there were kFailures in a row, and the first of them is kTime ago.
  [[nodiscard]] bool EndsAt(BootTime now) {
    if (failures_++ == 0) first_ = now;
    return failures_ >= kFailures && now - first_ >= kTime;
  }
  /// For another request, or after an attempt that says nothing about the request.
  void Reset() { failures_ = 0; }

 private:
  unsigned failures_ = 0;  // in a row
  BootTime first_{};
};

}  // namespace kepler::push
