#include "lab/judging/limits.h"

#include <fmt/format.h>

namespace kepler::lab::judging {

bool HasLimit(const Limits& limits) { return limits.mae_watts > 0 || limits.mape > 0; }

std::vector<std::string> Exceeded(const Limits& limits, const training::Errors& errors) {
  std::vector<std::string> exceeded;
  if (limits.mae_watts > 0 && errors.mae_watts > limits.mae_watts)
    exceeded.push_back(fmt::format("MAE is above {:g} W", limits.mae_watts));
  if (limits.mape > 0 && errors.mape_rows == 0)
    exceeded.push_back("no row has a MAPE, because the measured watts are 0");
  else if (limits.mape > 0 && errors.mape > limits.mape)
    exceeded.push_back(fmt::format("MAPE is above {:g} %", limits.mape));
  return exceeded;
}

}  // namespace kepler::lab::judging
