#include "energy/power_integral.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kepler::energy {

std::optional<Energy> PowerIntegral::Add(Power now, BootTime at) {
  const auto previous = std::exchange(power_, now);
  const Nanoseconds elapsed = std::max(at - std::exchange(at_, at), Nanoseconds::zero());
  if (!previous || elapsed > kLongestGap) return std::nullopt;
  const double mean_watts = (previous->watts() + now.watts()) / 2;
  const double exact_uj = mean_watts * static_cast<double>(elapsed.count()) / 1e3 + carry_uj_;
  const double whole_uj = std::floor(exact_uj);
  carry_uj_ = exact_uj - whole_uj;
  return Energy::Microjoules(static_cast<int64_t>(whole_uj));
}

}  // namespace kepler::energy
