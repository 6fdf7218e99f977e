#pragma once
// TimedChoice: chooses a model (choice.h) among those that predict fast enough for the caller. One thread.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/choice.h"
#include "model/model_set.h"
#include "model/power_model.h"

namespace kepler::model {

class TimedChoice {
 public:
  /// Called once for each model that takes longer than `slowest`.
  using OnSlow = std::function<void(const KnownModel&)>;

  /// `cpu_time` returns the CPU time of this thread.
  TimedChoice(Nanoseconds slowest, std::function<Nanoseconds()> cpu_time, OnSlow on_slow)
      : slowest_(slowest), cpu_time_(std::move(cpu_time)), on_slow_(std::move(on_slow)) {}

  /// Calls ChooseModel() without the models that are too slow, and marks them in `here.too_slow`. A model is timed
  /// once, when it would first be chosen. The measurement is kept when other models change.
  [[nodiscard]] Result<Choice> Choose(const ModelSet& models, Component wanted, Situation& here);
  /// Keeps the measurements of `models` and drops all others.
  void Keep(const ModelSet& models);

 private:
  struct Timed {
    std::shared_ptr<const KnownModel> model;
    bool fast = false;
  };
  [[nodiscard]] bool IsFast(const std::shared_ptr<const KnownModel>& known);

  const Nanoseconds slowest_;
  const std::function<Nanoseconds()> cpu_time_;
  const OnSlow on_slow_;
  std::vector<Timed> timed_;
};

}  // namespace kepler::model
