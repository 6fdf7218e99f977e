// Sensor data records of a BMC: the formula and the name of a power sensor.
#include <cmath>

#include "base/text.h"
#include "energy/platform/ipmi/sensor_record.h"
#include "energy/platform/ipmi/sensor_repository.h"
#include "fuzz.h"

namespace ipmi = kepler::energy::platform::ipmi;

void Fuzz(std::string_view text) {
  const ipmi::Bytes record(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto sensor = ipmi::ParsePowerSensor(record);
  if (!sensor || !*sensor) return;
  if (!ipmi::IsInWatts(record)) std::abort();
  if ((*sensor)->name.empty() || !kepler::IsValidUtf8((*sensor)->name)) std::abort();
  for (int raw = 0; raw < 256; ++raw)
    if (!std::isfinite((*sensor)->ToPower(static_cast<uint8_t>(raw)).watts())) std::abort();
  static_cast<void>(ipmi::WholeMachine({&**sensor, 1}));
}
