#include "activity/fallback_source.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kepler::activity {

FallbackSource::FallbackSource(std::unique_ptr<ActivitySource> primary, MakeFallback make, const Clock& clock)
    : primary_(std::move(primary)), make_(std::move(make)), clock_(clock) {}

Status FallbackSource::Sample(ActivitySample& out) {
  if (state_ == State::kPrimary) {
    auto scanned = primary_->Sample(out);
    if (scanned) failures_ = 0;
    if (scanned || !IsForGood(scanned.error())) return scanned;
    TakeOver(scanned.error());
  } else if (state_ == State::kFallback) {
    primary_.reset();
  }
  auto scanned = fallback_->Sample(out);
  if (scanned && state_ == State::kHandedOver) AddLastWords(out);
  UpdateStatus();
  return scanned;
}

void FallbackSource::Drain() {
  if (state_ == State::kPrimary)
    primary_->Drain();
  else
    fallback_->Drain();
}

const status::ActivityStatus& FallbackSource::status() const {
  return state_ == State::kPrimary ? primary_->status() : status_;
}

bool FallbackSource::IsForGood(const Error& error) {
  const BootTime now = clock_.Now();
  if (failures_++ == 0) failing_since_ = now;
  return error.kind == ErrorKind::kPermission || (failures_ >= kFailures && now - failing_since_ >= kFailingFor);
}

void FallbackSource::TakeOver(const Error& error) {
  handover_ = primary_->HandOver(last_words_);
  std::ranges::sort(handover_.processes, {}, &Handover::Process::key);
  primary_status_ = primary_->status();
  fallback_ = make_(handover_);
  state_ = State::kHandedOver;
  log::Error(
      "the source of CPU time failed permanently, using the fallback; short-lived processes are known by their "
      "cgroup only, and hardware events are not counted",
      {{"failed", std::string(primary_status_.name)},
       {"activity", std::string(fallback_->status().name)},
       {"err", error.message},
       {"action", "fix the cause and restart the agent"}});
}

/// Both lists are sorted by key, ascending.
void FallbackSource::AddLastWords(ActivitySample& out) {
  out.exited.insert(out.exited.end(), last_words_.exited.begin(), last_words_.exited.end());
  out.short_lived.insert(out.short_lived.end(), last_words_.short_lived.begin(), last_words_.short_lived.end());
  out.residuals.insert(out.residuals.end(), last_words_.residuals.begin(), last_words_.residuals.end());
  out.lost += last_words_.lost;
  out.renumbered = true;
  auto known = handover_.processes.begin();
  for (const ProcessSample& process : out.processes) {
    const ProcessKey& key = process.info->key;
    while (known != handover_.processes.end() && known->key < key) ++known;
    if (known != handover_.processes.end() && known->key == key) out.moved.push_back({known->slot, process.slot});
  }
  handover_ = {};
  last_words_ = {};
  state_ = State::kFallback;
}

void FallbackSource::UpdateStatus() {
  status_ = fallback_->status();
  status_.vanished += primary_status_.vanished;
  status_.failed_reads += primary_status_.failed_reads;
  status_.failed_cgroup_reads += primary_status_.failed_cgroup_reads;
  status_.audit.comparisons += primary_status_.audit.comparisons;
  status_.audit.charged += primary_status_.audit.charged;
  status_.records = primary_status_.records;
  status_.lost += primary_status_.lost;
  status_.iterator_time += primary_status_.iterator_time;
  status_.program_time += primary_status_.program_time;
  status_.program_runs += primary_status_.program_runs;
}

}  // namespace kepler::activity
