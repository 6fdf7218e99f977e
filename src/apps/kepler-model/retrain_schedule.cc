#include "apps/kepler-model/retrain_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#include "base/log.h"
#include "base/thread.h"
#include "modelserver/jobs/trained_models.h"

namespace kepler::lab::tool {

std::vector<std::vector<std::string>> RetrainSteps(const Serving& config) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(config.retrain_last).count();
  std::vector<std::vector<std::string>> steps = {
      {"query", "--server=" + config.retrain_server, fmt::format("--last={}s", seconds), "--output=raw.json"},
      {"extract", "--input=raw.json", "--output=table.csv"},
      {"retrain", "--store=" + config.store, "--name=" + config.retrain, "--data=table.csv", "--output=abs",
       fmt::format("--features={}", fmt::join(config.retrain_features, ",")), "--trainer=" + config.retrain_trainer}};
  if (!config.retrain_node.empty()) steps.front().push_back("--node=" + config.retrain_node);
  if (!config.retrain_sign_key.empty()) steps.back().push_back("--sign-key=" + config.retrain_sign_key);
  if (!config.retrain_machine.empty()) steps.back().push_back("--machine=" + config.retrain_machine);
  return steps;
}

RetrainSchedule::RetrainSchedule(Serving config, modelserver::jobs::JobQueue& queue, std::function<void()> done)
    : config_(std::move(config)), queue_(queue), done_(std::move(done)) {}

void RetrainSchedule::Add() {
  using modelserver::jobs::JobState;
  const auto before = queue_.Find(last_);
  if (before && (before->state == JobState::kQueued || before->state == JobState::kRunning)) {
    log::Warn("skipped a scheduled training, because the one before has not ended",
              {{"name", config_.retrain}, {"job", last_}});
    return;
  }
  modelserver::jobs::Job job{.name = config_.retrain, .user = "schedule", .input_name = "name"};
  job.input = config_.retrain;
  job.steps = RetrainSteps(config_);
  job.collect = modelserver::jobs::ArchiveOfTrained;
  job.done = [done = done_](const modelserver::jobs::JobView& /*job*/, const std::string& /*result*/) { done(); };
  const auto id = queue_.Add(std::move(job));
  if (id) last_ = *id;
  if (!id) log::Warn("skipped a scheduled training", {{"name", config_.retrain}, {"reason", id.error().message}});
}

Status RetrainSchedule::Start() {
  KEPLER_TRY(thread_, StartThread("retraining", [this](const std::stop_token& stop) {
               std::mutex mutex;
               std::condition_variable_any never;
               while (!stop.stop_requested()) {
                 Add();
                 std::unique_lock lock(mutex);
                 never.wait_for(lock, stop, config_.retrain_interval, [] { return false; });
               }
             }));
  return {};
}

}  // namespace kepler::lab::tool
