#include "model/timed_choice.h"

#include <algorithm>

namespace kepler::model {

Result<Choice> TimedChoice::Choose(const ModelSet& models, Component wanted, Situation& here) {
  here.too_slow.resize(models.size());
  auto choice = ChooseModel(models, wanted, here);
  while (choice && !IsFast(models[choice->model])) {
    here.too_slow[choice->model] = true;
    choice = ChooseModel(models, wanted, here);
  }
  return choice;
}

void TimedChoice::Keep(const ModelSet& models) {
  std::erase_if(timed_, [&](const Timed& timed) { return std::ranges::find(models, timed.model) == models.end(); });
}

/// Measures the best of three predictions: the first one finds the model's memory uncached.
bool TimedChoice::IsFast(const std::shared_ptr<const KnownModel>& known) {
  const auto before = std::ranges::find(timed_, known, &Timed::model);
  if (before != timed_.end()) return before->fast;
  const std::vector<double> row(known->model.features.size(), 0);
  bool fast = false;
  for (int i = 0; i < 3 && !fast; ++i) {
    const Nanoseconds begin = cpu_time_();
    static_cast<void>(EstimateRow(known->model, row, 1));
    fast = cpu_time_() - begin <= slowest_;
  }
  timed_.push_back({known, fast});
  if (!fast) on_slow_(*known);
  return fast;
}

}  // namespace kepler::model
