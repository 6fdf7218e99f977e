// /proc/PID/stat: comm lies within the text, whatever a process calls itself.
#include "fuzz.h"
#include "os/procfs.h"

void Fuzz(std::string_view text) {
  const auto stat = kepler::os::ParseProcessStat(text);
  if (!stat) return;
  if (stat->pid <= 0 || stat->comm.data() < text.data() ||
      stat->comm.data() + stat->comm.size() > text.data() + text.size())
    std::abort();
}
