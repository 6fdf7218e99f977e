#pragma once
// Samples of a Prometheus server as the lines of ticks. All samples of one scrape have the same time and are of one
// snapshot of the agent. So a scrape is a tick, whose sums are checked as those of a file are. Pure; one thread.
//
// A sample is a double. Up to 8.5e9 J it gives every microjoule back. Above that a tick may be off by a few
// microjoules, which become unattributed energy.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/recording.h"
#include "report/energy_line.h"
#include "report/energy_report.h"

namespace kepler::report {

class PrometheusTicks {
 public:
  using Take = std::function<void(const EnergyLine& line)>;

  PrometheusTicks(By by, std::vector<std::string> zones, Take take);
  ~PrometheusTicks();

  /// Takes all samples of SelectorOf() in a range of time, which begins where the previous one ended. Calls `take` with
  /// the lines of its ticks in the order of time. kMalformed: a sample is not a number of joules, or node energy has no
  /// label node_name.
  [[nodiscard]] Status Add(const recording::Recording& samples);

  /// One line each: nodes with ticks that are left out because two targets have one node name, and restarts whose time
  /// the server does not know.
  [[nodiscard]] std::vector<std::string> Notes() const;
  /// Number of ticks so far.
  [[nodiscard]] size_t ticks() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::report
