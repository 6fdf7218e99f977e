#pragma once
// Sensor data records (SDR) of a BMC: the description of each sensor, which says how a raw reading becomes watts. Pure.
// Source: IPMI specification v2.0 rev. 1.1, sections 36.3 (formula) and 43.1 (full sensor record).
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "energy/platform/ipmi/ipmi_message.h"

namespace kepler::energy::platform::ipmi {

/// Length of the header that every record starts with.
inline constexpr size_t kRecordHeaderBytes = 5;
/// Length of the part of a full record that shows whether the sensor measures power: up to the modifier unit.
inline constexpr size_t kRecordUnitBytes = 23;

struct RecordHeader {
  uint8_t type = 0;
  uint8_t length = 0;  // bytes after the header
  /// Returns true for a full sensor record: only these have a formula.
  [[nodiscard]] bool is_full() const { return type == 0x01; }
};
/// kMalformed for fewer than kRecordHeaderBytes.
[[nodiscard]] Result<RecordHeader> ParseRecordHeader(Bytes record);

/// How a raw byte is a number.
enum class RawFormat : uint8_t { kUnsigned, kOnesComplement, kTwosComplement };

/// A sensor in watts: watts = (m · raw + b · 10^b_exponent) · 10^exponent.
struct PowerSensor {
  std::string name;    // valid UTF-8 without control characters; "sensor 0x51" if the record has none
  uint8_t owner = 0;   // address of the controller that reads it; the BMC is 0x20
  uint8_t lun = 0;     // logical unit of the owner
  uint8_t number = 0;  // within that unit
  RawFormat format = RawFormat::kUnsigned;
  int m = 1;           // 10 bits, signed
  int b = 0;           // 10 bits, signed
  int b_exponent = 0;  // 4 bits, signed
  int exponent = 0;    // 4 bits, signed

  [[nodiscard]] Power ToPower(uint8_t raw) const;
};

/// Returns true if the first kRecordUnitBytes of a full record describe an analog sensor in watts.
[[nodiscard]] bool IsInWatts(Bytes record);

/// Returns the power sensor of a record with its header. Empty if the record describes anything else: another type or
/// unit, a sensor without analog reading, or with a formula that is not linear. kMalformed if it is truncated.
[[nodiscard]] Result<std::optional<PowerSensor>> ParsePowerSensor(Bytes record);

}  // namespace kepler::energy::platform::ipmi
