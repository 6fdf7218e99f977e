#pragma once
// Status of an exporter that sends to a server or writes a file. Filled by export/push and export/json_lines. Counters
// are totals since startup.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"

namespace kepler::status {

/// Why an attempt to send a request failed, or was accepted only in part.
enum class PushFailure : uint8_t {
  kSetup,        // the headers file or a certificate could not be read
  kConnection,   // no connection, or it broke
  kTimeout,      // no answer in time, or 504
  kCertificate,  // the server's certificate is not trusted
  kThrottled,    // 429 or 503
  kServer,       // another 5xx
  kRefused,      // another status, such as 400 or 401
  kAnswer,       // an answer that cannot be read, or that is too long
  kPartial,      // the server accepted only a part of the data points
  kFile          // a file could not be written, or one of the queue not read
};
inline constexpr size_t kPushFailures = 10;
[[nodiscard]] constexpr std::string_view ToString(PushFailure failure) {
  constexpr std::array<std::string_view, kPushFailures> kNames = {
      "setup", "connection", "timeout", "certificate", "throttled", "server", "refused", "answer", "partial", "file"};
  return kNames[static_cast<size_t>(failure)];
}

/// Why data points never arrived.
enum class PushDrop : uint8_t {
  kQueueFull,  // newer requests took the space of the queue
  kRefused,    // the server refused their request for good
  kPartial,    // the server accepted the other points of their request
  kFile        // a file could not be written, or one of the queue not read
};
inline constexpr size_t kPushDrops = 4;
[[nodiscard]] constexpr std::string_view ToString(PushDrop reason) {
  constexpr std::array<std::string_view, kPushDrops> kNames = {"queue_full", "refused", "partial", "file"};
  return kNames[static_cast<size_t>(reason)];
}

struct PushStatus {
  std::string_view exporter{};                        // a literal: "otlp"
  uint64_t requests = 0;                              // accepted by the server
  uint64_t points = 0;                                // accepted by the server
  std::array<uint64_t, kPushFailures> failures{};     // attempts, per PushFailure
  std::array<uint64_t, kPushDrops> dropped_points{};  // per PushDrop
  uint64_t queued_requests = 0;
  uint64_t queued_bytes = 0;
  WallTime last_success{};  // epoch: never
};

}  // namespace kepler::status
