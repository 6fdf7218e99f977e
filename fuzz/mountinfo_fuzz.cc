// /proc/self/mountinfo: nothing that is unescaped grows.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/procfs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& mount : kepler::os::ParseMountInfo(text))
    if (mount.mount_point.size() + mount.root.size() > size || mount.type.find(' ') != std::string::npos) std::abort();
  return 0;
}
