#include "export/series/figure_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

namespace kepler::series {

std::string JoulesText(Energy energy) {
  constexpr int64_t kMicro = 1'000'000;
  const int64_t uj = energy.microjoules();
  return fmt::format("{}{}.{:06}", uj < 0 ? "-" : "", std::abs(uj / kMicro), std::abs(uj % kMicro));
}

std::string TimeText(WallTime time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(seconds)),
                     ms - seconds * 1000);
}

}  // namespace kepler::series
