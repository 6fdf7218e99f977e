#pragma once
// RetryPolicy: decides whether and when a request that failed is sent again. Pure functions of their arguments: who
// retries has the clock, the random numbers and the wait.
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "http/client/client.h"

namespace kepler::http::client {

struct RetryPolicy {
  unsigned retries = 4;  // after the first attempt
  // The delay doubles from retry to retry, from the first to the maximum.
  Nanoseconds first_delay = std::chrono::milliseconds(500);
  Nanoseconds max_delay = std::chrono::seconds(10);
  Nanoseconds max_retry_after = std::chrono::minutes(1);  // a server that wants a longer delay gets this one
  double jitter = 0;  // each delay is multiplied by a random factor from 1 - jitter to 1 + jitter
  std::vector<unsigned> statuses{408, 429, 502, 503, 504};  // answers after which a retry may help

  /// Delay after `failures` failures in a row, at least one. `random`: from 0 to 1, for the jitter.
  [[nodiscard]] Nanoseconds Delay(unsigned failures, double random) const;
  /// Delay before the next attempt; nothing: do not retry. Never repeats what IsRepeatable() forbids. Timeouts and
  /// broken connections are retried, and answers with one of `statuses`; a stop is an error of the same kind, so ask
  /// the stop token first. After 429 and 503 the delay is at least that of Retry-After.
  [[nodiscard]] std::optional<Nanoseconds> Next(const ClientRequest& request, const Result<Answer>& outcome,
                                                unsigned failures, double random, WallTime now) const;
};

/// Delay that a Retry-After asks for (RFC 9110, 10.2.3): a number of seconds, or a date in one of the three formats of
/// HTTP (5.6.7); 0 for a date in the past. Nothing if it is neither.
[[nodiscard]] std::optional<Nanoseconds> ParseRetryAfter(std::string_view text, WallTime now);

}  // namespace kepler::http::client
