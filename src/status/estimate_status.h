#pragma once
// Status of estimates by power models. Counters are totals since startup.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"

namespace kepler::status {

/// Labels of the model that estimates or shares a zone; "" if the model does not state the value.
struct ZoneModel {
  std::string zone;
  std::string name;
  std::string trainer;
  std::string features;    // name of the feature group, or "custom"
  std::string machine;     // processor of the training machine
  std::string source;      // "built-in", a path or a URL
  std::string match;       // why the model may be used here: "same_machine", "similar", "built_in", ...
  std::string mae_watts;   // stated error
  std::string mape;        // in percent
  std::string basis;       // where the error was measured: "same_machine", ...; "" without an error
  double error_watts = 0;  // 0: unknown
  double error_ratio = 0;  // of the watts; 0: unknown
  bool only_load = false;  // true: the model gives dynamic power only; false: idle power is included
  bool operator==(const ZoneModel&) const = default;
};

/// Status of estimates by power models. energy/modeled fills it for estimates that replace a meter. pipeline/ fills it
/// for estimates that share energy among workloads.
struct EstimateStatus {
  std::shared_ptr<const std::vector<ZoneModel>> models =
      std::make_shared<const std::vector<ZoneModel>>();  // in use now
  bool of_workloads = false;  // true: the estimates share a zone's energy among workloads; false: they replace a meter
  uint64_t predictions = 0;   // one per model and tick, for all zones of the model
  Nanoseconds prediction_time{0};
  uint64_t extrapolated = 0;  // predictions with a feature outside the model's training domain
  // predictions changed because they exceeded any machine's power, or were below the measured power of a part
  uint64_t clamped = 0;
};

}  // namespace kepler::status
