// /proc/PID/stat: comm lies within the text, whatever a process calls itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/procfs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto stat = kepler::os::ParseProcessStat(text);
  if (!stat) return 0;
  if (stat->pid <= 0 || stat->comm.data() < text.data() || stat->comm.data() + stat->comm.size() > text.data() + size)
    std::abort();
  return 0;
}
