// /proc/stat: any two readings give a ratio within [0, 1].
#include "fuzz.h"
#include "os/proc_stat.h"

void Fuzz(std::string_view text) {
  const auto half = text.size() / 2;
  const auto before = kepler::os::ParseProcStat(text.substr(0, half));
  const auto now = kepler::os::ParseProcStat(text.substr(half));
  if (!before || !now) return;
  const double ratio = kepler::os::UsageRatio(*before, *now).value();
  if (!(ratio >= 0.0 && ratio <= 1.0)) std::abort();
}
