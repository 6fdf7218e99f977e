#pragma once
// The series of workloads in the order of ticks. Labels do not tell two workloads apart if the second one has the pid
// of an ended one: its counter begins at 0 again. Pure; one thread.
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/units.h"

namespace kepler::report {

class WorkloadLives {
 public:
  /// The counters of all workloads that have the same labels except the state.
  struct Life {
    struct Seen {
      Energy energy;
      uint64_t tick = 0;
      uint64_t generation = 0;
    };
    Seen ended, running;
  };
  /// Numbers of counters; a counter that goes on keeps its number.
  struct Generations {
    uint64_t ended = 0, running = 0;
  };

  void BeginTick() { ++tick_; }
  /// No counter of the ticks before goes on: the next tick is of another run of the agent.
  void BeginRun() { ++tick_; }
  /// Valid until ForgetEnded().
  [[nodiscard]] Life* Find(const std::string& key) { return &lives_[key]; }
  /// What the labels have in this tick, in either state. Once in a tick for each life.
  [[nodiscard]] Generations Advance(Life& life, std::optional<Energy> ended, std::optional<Energy> running);
  /// Drops lives without a counter in this tick.
  void ForgetEnded();

 private:
  std::unordered_map<std::string, Life> lives_;
  uint64_t tick_ = 1;
  uint64_t generations_ = 0;
};

}  // namespace kepler::report
