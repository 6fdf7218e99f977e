#pragma once
// Retrains a model of the store on a schedule, as training jobs: query, extract, retrain. The Prometheus server is that
// of the flags; no client can name another one.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "apps/kepler-model/serve_settings.h"
#include "base/result.h"
#include "modelserver/jobs/job_queue.h"

namespace kepler::lab::tool {

/// Command lines of kepler-model, without its name.
[[nodiscard]] std::vector<std::vector<std::string>> RetrainSteps(const Serving& config);

class RetrainSchedule {
 public:
  /// `queue` must outlive it. `done` is called after each job, on the thread of the jobs.
  RetrainSchedule(Serving config, modelserver::jobs::JobQueue& queue, std::function<void()> done);
  /// Starts the thread that adds a job at once and then every config.retrain_interval.
  [[nodiscard]] Status Start();

 private:
  /// Not while the one before waits or runs.
  void Add();

  const Serving config_;
  modelserver::jobs::JobQueue& queue_;
  const std::function<void()> done_;
  std::string last_;  // id of the latest job; of the thread
  std::jthread thread_;
};

}  // namespace kepler::lab::tool
