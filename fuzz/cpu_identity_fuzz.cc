// /proc/cpuinfo of any machine, cut anywhere.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/cpu_identity.h"
#include "model/cpu_power.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto& row = kepler::model::PowerOf(kepler::model::ParseCpuIdentity(text));
  if (row.name.empty() || row.full_watts <= row.idle_watts) std::abort();
  return 0;
}
