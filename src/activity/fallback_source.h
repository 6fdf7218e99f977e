#pragma once
// FallbackSource: a source, and what goes on in its place once it has failed for good. There is no way back but a
// restart: two sources in turn would lose at each change what only the better one sees.
//
//   kPrimary ──failed for good──► kHandedOver ──first good scan──► kFallback
//
// Nothing that ran between the last good scan of the one and the first of the other is lost or counted twice: the
// fallback goes on from what each process had used, and the first scan reports the ends that the primary still knew of.
#include <functional>
#include <memory>

#include "activity/activity_source.h"

namespace kepler::activity {

class FallbackSource final : public ActivitySource {
 public:
  using MakeFallback = std::function<std::unique_ptr<ActivitySource>(const Handover&)>;
  /// `clock` must outlive the source.
  FallbackSource(std::unique_ptr<ActivitySource> primary, MakeFallback make, const Clock& clock);

  Status Sample(ActivitySample& out) override;
  [[nodiscard]] int WakeFd() const override { return current().WakeFd(); }
  void Drain() override;
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override { return current().LivingCgroups(); }
  /// Totals of both.
  [[nodiscard]] const snapshot::ActivityStatus& status() const override;

  /// A right that is gone does not come back. Any other failure is for good after so many scans in a row, and so long.
  static constexpr int kFailures = 3;
  static constexpr Nanoseconds kFailingFor = std::chrono::seconds(5);

 private:
  enum class State : uint8_t { kPrimary, kHandedOver, kFallback };

  [[nodiscard]] const ActivitySource& current() const { return state_ == State::kPrimary ? *primary_ : *fallback_; }
  [[nodiscard]] bool IsForGood(const Error& error);
  void TakeOver(const Error& error);
  void AddLastWords(ActivitySample& out);
  void UpdateStatus();

  std::unique_ptr<ActivitySource> primary_;  // kept for the scan after its last words: they point to it
  std::unique_ptr<ActivitySource> fallback_;
  MakeFallback make_;
  const Clock& clock_;
  State state_ = State::kPrimary;
  int failures_ = 0;  // in a row
  BootTime failing_since_{};
  Handover handover_;
  ActivitySample last_words_;
  snapshot::ActivityStatus primary_status_;  // its last
  snapshot::ActivityStatus status_;
};

}  // namespace kepler::activity
