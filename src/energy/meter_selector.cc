#include "energy/meter_selector.h"

#include <utility>

namespace kepler::energy {
namespace {

/// The first sample is only the baseline. A meter may be dead if it does not advance in three more samples.
constexpr int kStillSamples = 4;
constexpr std::string_view kNeverAdvanced = "its counters never advanced, while those of another meter did";

}  // namespace

MeterSelector::MeterSelector(std::vector<std::unique_ptr<EnergySource>> in_order,
                             std::unique_ptr<EstimateSource> estimate, const Clock& clock)
    : clock_(clock) {
  for (auto& source : in_order) candidates_.push_back({.meter = std::make_unique<Meter>(std::move(source), clock)});
  if (estimate == nullptr) return;
  const EstimateSource* const last = estimate.get();
  candidates_.push_back({.meter = std::make_unique<Meter>(std::move(estimate), clock), .estimate = last});
}

Status MeterSelector::Open() {
  tried_at_ = clock_.Now();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    TryOpen(candidates_[i]);
    if (candidates_[i].state != State::kOpen) continue;
    current_ = i;
    // For an estimate, MakeMeters() logs a warning with these reasons.
    if (!failures_.empty() && estimate() == nullptr)
      log::Info("preferred energy meters are unavailable", {{"err", FailureText()}});
    current().Announce();
    return {};
  }
  const std::string reasons = FailureText();
  return Fail(ErrorKind::kUnavailable, "no energy meter works" + (reasons.empty() ? "" : ": " + reasons));
}

std::string MeterSelector::FailureText() const {
  std::string text;
  for (const Failure& failure : failures_) text += (text.empty() ? "" : "; ") + failure.source + ": " + failure.reason;
  return text;
}

void MeterSelector::Sample() {
  current().Sample();
  RetryBetter();
  if (current().has_moved()) return;
  if (++still_samples_ == 1) still_since_ = clock_.Now();
  // The first sample is the baseline and never advances, so the fallbacks are not opened yet.
  if (still_samples_ > 1) SampleFallbacks();
}

/// Never switches to the better source. The zones of the current source have totals, whose meaning must not change
/// while the agent runs.
void MeterSelector::RetryBetter() {
  if (clock_.Now() - tried_at_ < kRetryPeriod) return;
  tried_at_ = clock_.Now();
  for (size_t i = 0; i < current_; ++i) {
    Candidate& candidate = candidates_[i];
    if (candidate.state != State::kFailed || !candidate.meter->Open()) continue;
    candidate.state = State::kOpen;
    candidate.appeared = true;
    log::Warn("a better meter is available now; restart the agent to use it",
              {{"meter", candidate.meter->status().name}, {"instead_of", current().status().name}});
  }
}

void MeterSelector::SampleFallbacks() {
  for (size_t i = current_ + 1; i < candidates_.size(); ++i) {
    Candidate& candidate = candidates_[i];
    if (candidate.state == State::kUntried) {
      TryOpen(candidate);
      if (candidate.state == State::kFailed)
        log::Info("failed to open a fallback energy meter",
                  {{"meter", failures_.back().source}, {"err", failures_.back().reason}});
    }
    if (candidate.state == State::kOpen) candidate.meter->Sample();
  }
  if (still_samples_ < kStillSamples) return;
  for (size_t i = current_ + 1; i < candidates_.size(); ++i)
    if (MayReplace(candidates_[i])) return SwitchTo(i);
}

bool MeterSelector::MayReplace(const Candidate& candidate) const {
  if (candidate.state != State::kOpen || !candidate.meter->has_moved()) return false;
  return candidate.estimate == nullptr || clock_.Now() - still_since_ >= kStillBeforeEstimate;
}

const EstimateSource* MeterSelector::replacement() const {
  if (estimate() != nullptr || current().has_moved()) return nullptr;
  return candidates_.back().estimate;
}

void MeterSelector::SwitchTo(size_t index) {
  const std::string dead = current().status().name;
  failures_.push_back({dead, std::string(kNeverAdvanced)});
  current_ = index;
  still_samples_ = 0;
  log::Warn("energy meter is not advancing",
            {{"meter", dead},
             {"instead", current().status().name},
             {"err", FailureText()},
             {"action",
              "check whether the machine supports this meter; in a virtual machine its "
              "registers often read 0"}});
  current().Announce();
}

void MeterSelector::TryOpen(Candidate& candidate) {
  const Status status = candidate.meter->Open();
  candidate.state = status ? State::kOpen : State::kFailed;
  if (status) return;
  failures_.push_back({candidate.meter->status().name, status.error().message});
}

std::vector<status::SourceStatus> MeterSelector::status() const {
  std::vector<status::SourceStatus> all;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (candidate.state == State::kUntried) continue;
    all.push_back(candidate.meter->status());
    all.back().restart_needed = candidate.appeared;
    const bool is_dead = i < current_ && candidate.state == State::kOpen && !candidate.appeared;
    if (is_dead) all.back().problem = Error{ErrorKind::kUnavailable, std::string(kNeverAdvanced)};
  }
  return all;
}

}  // namespace kepler::energy
