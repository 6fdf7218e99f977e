#pragma once
// CPU use of each workload between two ticks, since the API sends totals. Pure.
#include <optional>
#include <string>
#include <unordered_map>

#include "top/readings.h"

namespace kepler::top {

class CpuRates {
 public:
  /// Sets cpu_cores of each row that had a total at an earlier tick.
  void Fill(Readings& readings);

 private:
  struct Use {
    double total = 0;  // seconds
    std::optional<double> cores{};
  };
  std::string level_{};
  double time_ = 0;
  std::unordered_map<std::string, Use> uses_{};  // by id
};

}  // namespace kepler::top
