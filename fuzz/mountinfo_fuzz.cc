// /proc/self/mountinfo: nothing that is unescaped grows.
#include "fuzz.h"
#include "os/procfs.h"

void Fuzz(std::string_view text) {
  for (const auto& mount : kepler::os::ParseMountInfo(text))
    if (mount.mount_point.size() + mount.root.size() > text.size() || mount.type.find(' ') != std::string::npos)
      std::abort();
}
