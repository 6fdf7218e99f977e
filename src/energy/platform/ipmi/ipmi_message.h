#pragma once
// Messages to the baseboard management controller (BMC) of a server, as they pass through its system interface. Pure.
// Source of all numbers: IPMI specification v2.0 rev. 1.1, section 5 (network functions, completion codes).
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::energy::platform::ipmi {

using Bytes = std::span<const uint8_t>;

/// Network functions of requests. The answer has the next number.
inline constexpr uint8_t kSensorFunction = 0x04;
inline constexpr uint8_t kStorageFunction = 0x0A;
inline constexpr uint8_t kGroupFunction = 0x2C;

struct Request {
  uint8_t function = 0;
  uint8_t command = 0;
  uint8_t lun = 0;  // logical unit of the BMC
  std::vector<uint8_t> data{};
};

inline constexpr uint8_t kSuccess = 0x00;
inline constexpr uint8_t kInvalidCommand = 0xC1;
inline constexpr uint8_t kReservationCancelled = 0xC5;
inline constexpr uint8_t kTooManyBytes = 0xCA;

/// Returns the completion code, which is the first byte of an answer. kUnspecified if the answer is empty.
inline constexpr uint8_t kUnspecified = 0xFF;
[[nodiscard]] inline uint8_t CodeOf(Bytes answer) { return answer.empty() ? kUnspecified : answer[0]; }

/// Returns the data of an answer, which follow the completion code. Errors: kMalformed for an empty answer; for any
/// code other than kSuccess, the kind, the meaning and the remedy of the code.
[[nodiscard]] Result<Bytes> BodyOf(Bytes answer);

/// Returns the two bytes at `offset`, least significant first. The bytes must exist.
[[nodiscard]] constexpr uint16_t Word(Bytes bytes, size_t offset) {
  return static_cast<uint16_t>(bytes[offset] | bytes[offset + 1] << 8);
}

}  // namespace kepler::energy::platform::ipmi
