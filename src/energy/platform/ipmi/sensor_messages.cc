#include "energy/platform/ipmi/sensor_messages.h"

#include <fmt/core.h>

namespace kepler::energy::platform::ipmi {
namespace {

constexpr uint8_t kReserveRepository = 0x22;
constexpr uint8_t kGetRecord = 0x23;
constexpr uint8_t kGetSensorReading = 0x2D;

constexpr uint8_t kScanning = 0x40;
constexpr uint8_t kReadingUnavailable = 0x20;

constexpr uint8_t Low(uint16_t word) { return static_cast<uint8_t>(word); }
constexpr uint8_t High(uint16_t word) { return static_cast<uint8_t>(word >> 8); }

/// Returns the body of an answer if it has at least `min` bytes.
Result<Bytes> BodyOfAtLeast(Bytes answer, size_t min) {
  KEPLER_TRY(const Bytes body, BodyOf(answer));
  if (body.size() < min)
    return Fail(ErrorKind::kMalformed, fmt::format("the answer has {} bytes instead of {}", body.size(), min));
  return body;
}

}  // namespace

Request ReserveRequest() { return {.function = kStorageFunction, .command = kReserveRepository, .lun = 0, .data = {}}; }

Result<uint16_t> ParseReservation(Bytes answer) {
  KEPLER_TRY(const Bytes body, BodyOfAtLeast(answer, 2));
  return Word(body, 0);
}

Request RecordRequest(uint16_t reservation, uint16_t record, uint8_t offset, uint8_t count) {
  return {.function = kStorageFunction,
          .command = kGetRecord,
          .lun = 0,
          .data = {Low(reservation), High(reservation), Low(record), High(record), offset, count}};
}

Result<RecordPart> ParseRecordPart(Bytes answer) {
  KEPLER_TRY(const Bytes body, BodyOfAtLeast(answer, 3));
  return RecordPart{Word(body, 0), body.subspan(2)};
}

Request SensorRequest(const PowerSensor& sensor) {
  return {.function = kSensorFunction, .command = kGetSensorReading, .lun = sensor.lun, .data = {sensor.number}};
}

Result<uint8_t> ParseSensorReading(Bytes answer) {
  KEPLER_TRY(const Bytes body, BodyOfAtLeast(answer, 2));
  if ((body[1] & kScanning) == 0)
    return Fail(ErrorKind::kUnavailable, "the BMC does not scan the sensor; enable it in the settings of the BMC");
  if ((body[1] & kReadingUnavailable) != 0)
    return Fail(ErrorKind::kUnavailable, "the reading of the sensor is unavailable; it is retried");
  return body[0];
}

}  // namespace kepler::energy::platform::ipmi
