// /proc/stat: any two readings give a ratio within [0, 1].
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/proc_stat.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto half = text.size() / 2;
  const auto before = kepler::os::ParseProcStat(text.substr(0, half));
  const auto now = kepler::os::ParseProcStat(text.substr(half));
  if (!before || !now) return 0;
  const double ratio = kepler::os::UsageRatio(*before, *now).value();
  if (!(ratio >= 0.0 && ratio <= 1.0)) std::abort();
  return 0;
}
