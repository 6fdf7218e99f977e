#pragma once
// FallbackSource: runs a primary source and replaces it with a fallback source after a permanent failure. Only a
// restart returns to the primary source: each switch would lose time that only the better source sees.
//
//   kPrimary ──failed for good──► kHandedOver ──first good scan──► kFallback
//
// No CPU time between the last good scan of the primary and the first good scan of the fallback is counted twice. The
// fallback starts from the time that each process had used. Its first scan reports the exits that the primary still
// knew. Time of processes that end during this scan can be lost. Time that processes use during this scan is subtracted
// from later residuals of their cgroups.
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
  /// Totals of both sources.
  [[nodiscard]] const status::ActivityStatus& status() const override;

  /// A missing permission is a permanent failure. Any other failure is permanent after kFailures consecutive scans and
  /// at least kFailingFor.
  static constexpr int kFailures = 3;
  static constexpr Nanoseconds kFailingFor = std::chrono::seconds(5);

 private:
  enum class State : uint8_t { kPrimary, kHandedOver, kFallback };

  [[nodiscard]] const ActivitySource& current() const { return state_ == State::kPrimary ? *primary_ : *fallback_; }
  [[nodiscard]] bool IsForGood(const Error& error);
  void TakeOver(const Error& error);
  void AddLastWords(ActivitySample& out);
  void UpdateStatus();

  std::unique_ptr<ActivitySource> primary_;  // kept for one scan after its last results, which point to it
  std::unique_ptr<ActivitySource> fallback_;
  MakeFallback make_;
  const Clock& clock_;
  State state_ = State::kPrimary;
  int failures_ = 0;  // consecutive failed scans
  BootTime failing_since_{};
  Handover handover_;
  ActivitySample last_words_;
  status::ActivityStatus primary_status_;  // final status of the primary
  status::ActivityStatus status_;
};

}  // namespace kepler::activity
