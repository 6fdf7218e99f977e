// Sensor data records of a BMC: the formula and the name of a power sensor.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "energy/platform/ipmi/sensor_record.h"
#include "energy/platform/ipmi/sensor_repository.h"

namespace ipmi = kepler::energy::platform::ipmi;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ipmi::Bytes record(data, size);
  const auto sensor = ipmi::ParsePowerSensor(record);
  if (!sensor || !*sensor) return 0;
  if (!ipmi::IsInWatts(record)) std::abort();
  if ((*sensor)->name.empty() || !kepler::IsValidUtf8((*sensor)->name)) std::abort();
  for (int raw = 0; raw < 256; ++raw)
    if (!std::isfinite((*sensor)->ToPower(static_cast<uint8_t>(raw)).watts())) std::abort();
  static_cast<void>(ipmi::WholeMachine({&**sensor, 1}));
  return 0;
}
