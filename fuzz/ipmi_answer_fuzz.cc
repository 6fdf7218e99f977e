// Answers of a BMC: DCMI power reading, sensor records in parts, sensor reading.
#include "energy/platform/ipmi/dcmi_power.h"
#include "energy/platform/ipmi/sensor_messages.h"
#include "fuzz.h"

namespace ipmi = kepler::energy::platform::ipmi;

void Fuzz(std::string_view text) {
  const ipmi::Bytes answer(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto reading = ipmi::ParseDcmiPower(answer);
  if (reading && ipmi::IsWithoutDcmi(answer)) std::abort();
  if (reading) {
    const auto power = ipmi::PowerOf(*reading);
    if (power && !(power->watts() > 0 && power->watts() < 65'535)) std::abort();
  }
  static_cast<void>(ipmi::ParseReservation(answer));
  static_cast<void>(ipmi::ParseSensorReading(answer));
  const auto part = ipmi::ParseRecordPart(answer);
  if (part && (part->bytes.empty() || part->bytes.size() > text.size())) std::abort();
}
