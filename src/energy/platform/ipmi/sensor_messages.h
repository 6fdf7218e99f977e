#pragma once
// Commands that read the repository of sensor data records (SDR), and one sensor. Pure. Source: IPMI specification v2.0
// rev. 1.1, sections 33.11 (Reserve SDR Repository), 33.12 (Get SDR) and 35.14 (Get Sensor Reading).
#include <cstdint>

#include "base/result.h"
#include "energy/platform/ipmi/ipmi_message.h"
#include "energy/platform/ipmi/sensor_record.h"

namespace kepler::energy::platform::ipmi {

/// Identifier of the first record in requests, and the "next" of the last record.
inline constexpr uint16_t kFirstRecord = 0x0000;
inline constexpr uint16_t kNoRecord = 0xFFFF;

[[nodiscard]] Request ReserveRequest();
/// Returns the reservation. A change of the repository cancels it. Errors: as BodyOf; kMalformed if truncated.
[[nodiscard]] Result<uint16_t> ParseReservation(Bytes answer);

/// `count` bytes from `offset` of the record.
[[nodiscard]] Request RecordRequest(uint16_t reservation, uint16_t record, uint8_t offset, uint8_t count);
struct RecordPart {
  uint16_t next = kNoRecord;  // identifier of the next record
  Bytes bytes;                // views the answer
};
/// Errors: as BodyOf; kMalformed if truncated, or without one byte of the record.
[[nodiscard]] Result<RecordPart> ParseRecordPart(Bytes answer);

[[nodiscard]] Request SensorRequest(const PowerSensor& sensor);
/// Returns the raw reading. Errors: as BodyOf; kMalformed if truncated; kUnavailable if the BMC does not scan the
/// sensor or says that its reading is unavailable.
[[nodiscard]] Result<uint8_t> ParseSensorReading(Bytes answer);

}  // namespace kepler::energy::platform::ipmi
