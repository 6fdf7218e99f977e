#pragma once
// MeterSelector: the first source of an ordered list that works, and the next one when the chosen meter is dead: it can
// be read but has never moved (a RAPL register that nobody feeds reads 0 for ever) while another one moves. A model
// moves always, so it proves nothing: it replaces a dead meter only after kStillBeforeEstimate. Sources before
// the chosen one that failed are tried again; one that works then is named in the log. Collection thread only.
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
  /// A source that could not be used, and why.
  struct Failure {
    std::string source;
    std::string reason;
  };

  /// `in_order`: the most trusted first, none of them an estimate. `estimate` comes after all of them; may be null.
  /// `clock` must outlive the selector.
  MeterSelector(std::vector<std::unique_ptr<EnergySource>> in_order, std::unique_ptr<EstimateSource> estimate,
                const Clock& clock);

  /// Opens the sources in order until one works. The error names every source and its reason.
  Status Open();
  /// Samples the current meter. May change which one that is; the new one's deltas() then cover the same interval.
  void Sample();
  /// Valid after Open() succeeded. Compare the address to see a change: the zones are then other ones.
  [[nodiscard]] Meter& current() { return *candidates_[current_].meter; }
  [[nodiscard]] const Meter& current() const { return *candidates_[current_].meter; }
  /// The estimate if it is the current meter, else null.
  [[nodiscard]] const EstimateSource* estimate() const { return candidates_[current_].estimate; }
  /// The estimate that may still replace the current meter because that has never advanced, else null.
  [[nodiscard]] const EstimateSource* replacement() const;
  /// Of every source that was opened or failed to open, in order; those that were never needed are left out. One that
  /// could be opened only later is up and has restart_needed: nothing is counted with it before a restart.
  [[nodiscard]] std::vector<status::SourceStatus> status() const;
  [[nodiscard]] std::span<const Failure> failures() const { return failures_; }
  /// All of them in one line, "" for none.
  [[nodiscard]] std::string FailureText() const;

  static constexpr std::chrono::seconds kStillBeforeEstimate{60};
  static constexpr std::chrono::seconds kRetryPeriod{60};

 private:
  enum class State : uint8_t { kUntried, kOpen, kFailed };
  struct Candidate {
    std::unique_ptr<Meter> meter;
    const EstimateSource* estimate = nullptr;  // what the meter reads, if that is an estimate
    State state = State::kUntried;
    bool appeared = false;  // can be read only since after the start, and is better than the current one
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
  BootTime tried_at_{};     // when the sources that failed were last tried
  BootTime still_since_{};  // first look at the current meter
  int still_samples_ = 0;   // looks at the current meter, since it was chosen, in which it had not moved
};

}  // namespace kepler::energy
