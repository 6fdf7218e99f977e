#include "energy/platform/ipmi/dcmi_power.h"

#include <fmt/core.h>

namespace kepler::energy::platform::ipmi {
namespace {

constexpr uint8_t kDcmiGroup = 0xDC;
constexpr uint8_t kGetPowerReading = 0x02;
constexpr uint8_t kSystemStatistics = 0x01;
constexpr uint8_t kActive = 0x40;
// Answers with these codes are final: invalid command, invalid for the unit, invalid field (the group), disabled.
constexpr uint8_t kInvalidForUnit = 0xC2;
constexpr uint8_t kInvalidField = 0xCC;
constexpr uint8_t kDisabled = 0xD6;
/// Group, four powers, timestamp, period, state.
constexpr size_t kReadingBytes = 18;

uint32_t DoubleWord(Bytes bytes, size_t offset) {
  return Word(bytes, offset) | static_cast<uint32_t>(Word(bytes, offset + 2)) << 16;
}

}  // namespace

Request DcmiPowerRequest() {
  return {
      .function = kGroupFunction, .command = kGetPowerReading, .lun = 0, .data = {kDcmiGroup, kSystemStatistics, 0, 0}};
}

bool IsWithoutDcmi(Bytes answer) {
  switch (CodeOf(answer)) {
    case kSuccess:
      return answer.size() < 2 || answer[1] != kDcmiGroup;
    case kInvalidCommand:
    case kInvalidForUnit:
    case kInvalidField:
    case kDisabled:
      return true;
    default:
      return false;
  }
}

Result<DcmiReading> ParseDcmiPower(Bytes answer) {
  KEPLER_TRY(const Bytes body, BodyOf(answer));
  if (!body.empty() && body[0] != kDcmiGroup)
    return Fail(ErrorKind::kMalformed, fmt::format("the answer is of group {:#04x} instead of DCMI (0xdc)", body[0]));
  if (body.size() < kReadingBytes)
    return Fail(ErrorKind::kMalformed,
                fmt::format("the answer has {} bytes instead of {}", body.size(), kReadingBytes));
  DcmiReading reading;
  reading.watts = Word(body, 1);
  reading.min = Word(body, 3);
  reading.max = Word(body, 5);
  reading.at = std::chrono::sys_seconds(std::chrono::seconds(DoubleWord(body, 9)));
  reading.period = std::chrono::milliseconds(DoubleWord(body, 13));
  reading.is_active = (body[17] & kActive) != 0;
  return reading;
}

Result<Power> PowerOf(const DcmiReading& reading) {
  // OpenBMC leaves the bit, the time and the period 0 and reports true power (openbmc/openbmc issue 3257).
  const bool is_without_statistics = reading.at == std::chrono::sys_seconds{} && reading.period.count() == 0;
  if (!reading.is_active && (reading.watts == 0 || !is_without_statistics))
    return Fail(ErrorKind::kUnavailable,
                "DCMI power measurement is not active; enable power monitoring in the settings of the BMC, or check "
                "its licence and whether its power supplies report power");
  if (reading.watts == 0 || reading.watts == 0xFFFF)
    return Fail(ErrorKind::kUnavailable,
                fmt::format("DCMI reports {} W, which is not a measurement; check whether the power supplies report "
                            "power, or update the firmware of the BMC",
                            reading.watts));
  return Power::Watts(reading.watts);
}

}  // namespace kepler::energy::platform::ipmi
