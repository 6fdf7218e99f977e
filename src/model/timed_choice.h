#pragma once
// TimedChoice: the choice of a model (choice.h) among those that predict fast enough for whoever waits. One thread.
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
  /// What to do about a model that takes longer than `slowest`; called once for each.
  using OnSlow = std::function<void(const KnownModel&)>;

  /// `cpu_time`: of this thread.
  TimedChoice(Nanoseconds slowest, std::function<Nanoseconds()> cpu_time, OnSlow on_slow)
      : slowest_(slowest), cpu_time_(std::move(cpu_time)), on_slow_(std::move(on_slow)) {}

  /// ChooseModel() without those that are too slow, which `here.too_slow` says then. A model is timed once, when it
  /// would be chosen first, whatever others come and go beside it.
  [[nodiscard]] Result<Choice> Choose(const ModelSet& models, Component wanted, Situation& here);
  /// There are these models now: what is known of others is forgotten.
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
