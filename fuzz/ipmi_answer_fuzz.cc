// Answers of a BMC: DCMI power reading, sensor records in parts, sensor reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "energy/platform/ipmi/dcmi_power.h"
#include "energy/platform/ipmi/sensor_messages.h"

namespace ipmi = kepler::energy::platform::ipmi;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ipmi::Bytes answer(data, size);
  const auto reading = ipmi::ParseDcmiPower(answer);
  if (reading && ipmi::IsWithoutDcmi(answer)) std::abort();
  if (reading) {
    const auto power = ipmi::PowerOf(*reading);
    if (power && !(power->watts() > 0 && power->watts() < 65'535)) std::abort();
  }
  static_cast<void>(ipmi::ParseReservation(answer));
  static_cast<void>(ipmi::ParseSensorReading(answer));
  const auto part = ipmi::ParseRecordPart(answer);
  if (part && (part->bytes.empty() || part->bytes.size() > size)) std::abort();
  return 0;
}
