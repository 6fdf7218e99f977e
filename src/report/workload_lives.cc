#include "report/workload_lives.h"

namespace kepler::report {

WorkloadLives::Generations WorkloadLives::Advance(Life& life, std::optional<Energy> ended,
                                                  std::optional<Energy> running) {
  const auto goes_on = [&](const Life::Seen& seen, Energy now) { return seen.tick + 1 == tick_ && now >= seen.energy; };
  const Life before = life;
  Generations out;
  bool is_taken = false;  // the counter that ran
  if (ended) {
    is_taken = !goes_on(before.ended, *ended) && goes_on(before.running, *ended);
    out.ended = is_taken                        ? before.running.generation
                : goes_on(before.ended, *ended) ? before.ended.generation
                                                : ++generations_;
    life.ended = {.energy = *ended, .tick = tick_, .generation = out.ended};
  }
  if (running) {
    const bool is_same = !is_taken && goes_on(before.running, *running);
    const bool is_back = !ended && goes_on(before.ended, *running);  // a container that was started again
    out.running = is_same ? before.running.generation : is_back ? before.ended.generation : ++generations_;
    life.running = {.energy = *running, .tick = tick_, .generation = out.running};
  }
  return out;
}

void WorkloadLives::ForgetEnded() {
  std::erase_if(lives_, [&](const auto& entry) {
    return entry.second.ended.tick != tick_ && entry.second.running.tick != tick_;
  });
}

}  // namespace kepler::report
