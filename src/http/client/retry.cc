#include "http/client/retry.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/parse.h"

namespace kepler::http::client {
namespace {

constexpr double kMaxSeconds = 1e9;  // fits in Nanoseconds

bool MayHelp(const RetryPolicy& policy, const Result<Answer>& outcome) {
  if (outcome) return std::ranges::find(policy.statuses, outcome->status) != policy.statuses.end();
  return outcome.error().kind == ErrorKind::kTimeout || outcome.error().kind == ErrorKind::kUnavailable;
}

/// Unix time of a date in the C locale, which no program of this project changes.
std::optional<time_t> ParseDate(const std::string& text) {
  for (const char* format : {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
    tm date{};
    const char* const end = ::strptime(text.c_str(), format, &date);
    if (end != nullptr && *end == '\0') return ::timegm(&date);
  }
  return std::nullopt;
}

}  // namespace

Nanoseconds RetryPolicy::Delay(unsigned failures, double random) const {
  Nanoseconds delay = std::min(first_delay, max_delay);
  for (unsigned i = 1; i < failures && delay < max_delay; ++i) delay = std::min(2 * delay, max_delay);
  return Nanoseconds(std::llround(static_cast<double>(delay.count()) * (1 + jitter * (2 * random - 1))));
}

std::optional<Nanoseconds> RetryPolicy::Next(const ClientRequest& request, const Result<Answer>& outcome,
                                             unsigned failures, double random, WallTime now) const {
  if (failures > retries || !IsRepeatable(request) || !MayHelp(*this, outcome)) return std::nullopt;
  const Nanoseconds delay = Delay(failures, random);
  if (!outcome || (outcome->status != 429 && outcome->status != 503)) return delay;
  const Nanoseconds wanted = ParseRetryAfter(outcome->retry_after, now).value_or(delay);
  return std::max(delay, std::min(wanted, max_retry_after));
}

std::optional<Nanoseconds> ParseRetryAfter(std::string_view text, WallTime now) {
  const auto in_seconds = [](double seconds) {
    return Nanoseconds(std::llround(std::clamp(seconds, 0.0, kMaxSeconds) * 1e9));
  };
  if (!text.empty() && std::ranges::all_of(text, IsDigit)) {
    const auto seconds = ParseNumber<double>(text);
    return seconds ? std::optional(in_seconds(*seconds)) : std::nullopt;
  }
  const auto date = ParseDate(std::string(text));
  if (!date) return std::nullopt;
  return in_seconds(static_cast<double>(*date) - std::chrono::duration<double>(now.time_since_epoch()).count());
}

}  // namespace kepler::http::client
