#pragma once
// MeterSelector: selects the first working source of an ordered list as the CPU meter. If the selected meter is dead,
// the next one replaces it. A meter is dead if it is readable but has never advanced (an unused RAPL register always
// reads 0), while another meter advances. An estimate always advances, so it replaces a dead meter only after
// kStillBeforeEstimate. Better sources that failed are retried. If one works later, a log line reports it. Collection
// thread only.
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "energy/estimate_source.h"
#include "energy/meter.h"

namespace kepler::energy {

class MeterSelector {
 public:
  /// A source that cannot be used, with the reason.
  struct Failure {
    std::string source;
    std::string reason;
  };

  /// `in_order`: best source first, without estimates. `estimate` comes after all of them; may be null.
  /// `clock` must outlive the selector.
  MeterSelector(std::vector<std::unique_ptr<EnergySource>> in_order, std::unique_ptr<EstimateSource> estimate,
                const Clock& clock);

  /// Opens the sources in order until one works. The error contains each source and its reason.
  Status Open();
  /// Samples the current meter. It may be replaced by another meter, whose deltas() cover the same interval.
  void Sample();
  /// Valid after Open() succeeded. If the address has changed, there are other zones.
  [[nodiscard]] Meter& current() { return *candidates_[current_].meter; }
  [[nodiscard]] const Meter& current() const { return *candidates_[current_].meter; }
  /// The estimate, if it is the current meter; otherwise null.
  [[nodiscard]] const EstimateSource* estimate() const { return candidates_[current_].estimate; }
  /// The estimate, if it may still replace the current meter, which has never advanced; otherwise null.
  [[nodiscard]] const EstimateSource* replacement() const;
  /// Of every source that was opened or failed to open, in order; those that were never needed are left out. One that
  /// could be opened only later is up and has restart_needed: nothing is counted with it before a restart.
  [[nodiscard]] std::vector<status::SourceStatus> status() const;
  [[nodiscard]] std::span<const Failure> failures() const { return failures_; }
  /// All failures on one line; "" for none.
  [[nodiscard]] std::string FailureText() const;

  static constexpr std::chrono::seconds kStillBeforeEstimate{60};
  static constexpr std::chrono::seconds kRetryPeriod{60};

 private:
  enum class State : uint8_t { kUntried, kOpen, kFailed };
  struct Candidate {
    std::unique_ptr<Meter> meter;
    const EstimateSource* estimate = nullptr;  // source of the meter, if it is an estimate
    State state = State::kUntried;
    bool appeared = false;  // readable only after startup, and better than the current meter
  };
  void TryOpen(Candidate& candidate);
  void RetryBetter();
  void SampleFallbacks();
  [[nodiscard]] bool MayReplace(const Candidate& candidate) const;
  void SwitchTo(size_t index);

  std::vector<Candidate> candidates_;
  std::vector<Failure> failures_;
  const Clock& clock_;
  size_t current_ = 0;
  BootTime tried_at_{};     // latest retry of failed sources
  BootTime still_since_{};  // first sample of the current meter
  int still_samples_ = 0;   // samples of the current meter before it advanced
};

}  // namespace kepler::energy
