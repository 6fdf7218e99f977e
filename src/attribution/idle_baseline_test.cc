#include "attribution/idle_baseline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

namespace kepler::attribution {
namespace {

using snapshot::Confidence;
using namespace std::chrono_literals;

/// Watts at a usage ratio.
using Curve = std::function<double(double busy)>;
double Line(double busy) { return 20 + 80 * busy; }
/// The first processors cost most.
double Bent(double busy) { return 20 + 80 * std::pow(busy, 0.7); }

/// A zone with a curve, watched every five seconds.
class Zone {
 public:
  explicit Zone(Curve curve) : curve_(std::move(curve)) {}
  void Run(Nanoseconds time, double busy, Nanoseconds every = 5s) {
    for (Nanoseconds done{0}; done < time; done += every)
      fit_.Learn(Power::Watts(curve_(busy) * Noise()), Ratio::Clamped(busy), every);
  }
  void Show(double watts, double busy = 0, Nanoseconds elapsed = 5s) {
    fit_.Learn(Power::Watts(watts), Ratio::Clamped(busy), elapsed);
  }
  void Change(Curve curve) { curve_ = std::move(curve); }
  void BeNoisy(double share) { noise_ = share; }
  IdleBaselineFit& fit() { return fit_; }
  [[nodiscard]] Confidence confidence() const { return fit_.latest().confidence; }
  [[nodiscard]] double watts() const { return fit_.latest().power.watts(); }
  [[nodiscard]] double uncertainty() const { return fit_.latest().uncertainty.watts(); }

 private:
  /// Even between 1 - noise_ and 1 + noise_, the same in each run.
  double Noise() {
    random_ = random_ * 6364136223846793005 + 1442695040888963407;
    return 1 + noise_ * (static_cast<double>(random_ >> 11) / 0x1p52 - 1);
  }

  Curve curve_;
  IdleBaselineFit fit_;
  double noise_ = 0;
  uint64_t random_ = 1;
};

TEST(IdleBaseline, BeforeAMinuteOfAKind_NothingIsSaid) {
  Zone zone(Line);
  EXPECT_EQ(zone.confidence(), Confidence::kLearning);
  zone.Run(55s, 0);
  EXPECT_EQ(zone.confidence(), Confidence::kLearning);
  EXPECT_EQ(zone.watts(), 0);
  zone.Run(5s, 0);
  EXPECT_EQ(zone.confidence(), Confidence::kMeasured);
  EXPECT_DOUBLE_EQ(zone.watts(), 20);
  EXPECT_DOUBLE_EQ(zone.uncertainty(), 0);
}

TEST(IdleBaseline, LoadForDays_TakesNothingAwayAndCostsCertainty) {
  Zone zone(Line);
  zone.BeNoisy(0.05);
  zone.Run(10min, 0.005);
  const double before = zone.watts();
  EXPECT_NEAR(before, 20, 1);
  zone.Run(1h, 1);
  EXPECT_NEAR(zone.watts(), before, 0.5);
  EXPECT_EQ(zone.confidence(), Confidence::kMeasured);
  const double uncertainty = zone.uncertainty();
  EXPECT_LT(uncertainty, 2);
  zone.Run(72h, 1);
  EXPECT_NEAR(zone.watts(), before, 0.5);
  EXPECT_NEAR(zone.uncertainty() - uncertainty, 0.3 * before, 0.1);
}

/// No load at all is never seen here, and the first percents cost most.
TEST(IdleBaseline, StepLoadOnAMachineThatIsNeverQuiteIdle_Stays) {
  Zone zone(Bent);
  zone.BeNoisy(0.05);
  zone.Run(30min, 0.02);
  const double before = zone.watts();
  EXPECT_NEAR(before, Bent(0.02), 2);
  for (const double busy : {1.0, 0.02}) {
    zone.Run(30min, busy);
    EXPECT_NEAR(zone.watts(), before, 1) << "a hundredth of the power at full load";
  }
}

TEST(IdleBaseline, FallsWithinAMinuteAndRisesWithinTen) {
  Zone zone([](double) { return 20.0; });
  zone.Run(1h, 0);
  zone.Change([](double) { return 30.0; });
  zone.Run(10min, 0);
  EXPECT_NEAR(zone.watts(), 30 - 10 / M_E, 0.2);
  zone.Run(1h, 0);
  EXPECT_NEAR(zone.watts(), 30, 0.1);
  zone.Change([](double) { return 20.0; });
  zone.Run(1min, 0);
  EXPECT_NEAR(zone.watts(), 20 + 10 / M_E, 1.2);
}

TEST(IdleBaseline, SingleReading_MovesNothing) {
  Zone zone([](double) { return 20.0; });
  zone.Run(10min, 0);
  for (const double odd : {0.0, 500.0}) {
    zone.Show(odd);
    EXPECT_DOUBLE_EQ(zone.watts(), 20);
    zone.Show(20);
    EXPECT_DOUBLE_EQ(zone.watts(), 20);
  }
}

TEST(IdleBaseline, NeverIdle_IsExtrapolatedAndTheTruthIsWithinTheUncertainty) {
  for (const Curve& curve : {Curve(Line), Curve(Bent)}) {
    Zone zone(curve);
    zone.BeNoisy(0.03);
    for (int hour = 0; hour < 10; ++hour)
      for (const double busy : {0.15, 0.3, 0.6, 0.9}) zone.Run(10min, busy);
    EXPECT_EQ(zone.confidence(), Confidence::kExtrapolated);
    EXPECT_NEAR(zone.watts(), 20, zone.uncertainty());
    EXPECT_LT(zone.watts(), curve(0.15));
    EXPECT_GT(zone.uncertainty(), 0.15 * 80 / 2) << "nobody has seen it";
  }
}

TEST(IdleBaseline, LoadThatNeverChanges_SaysNothingUnlessItIsSmall) {
  Zone half(Line);
  half.Run(24h, 0.5);
  EXPECT_EQ(half.confidence(), Confidence::kLearning);
  Zone tenth(Line);
  tenth.Run(24h, 0.1);
  EXPECT_EQ(tenth.confidence(), Confidence::kExtrapolated);
  EXPECT_NEAR(tenth.watts(), 20, tenth.uncertainty());
  Zone little(Line);
  little.Run(24h, 0.03);
  EXPECT_EQ(little.confidence(), Confidence::kMeasured);
  EXPECT_NEAR(little.watts(), 20, little.uncertainty());
}

TEST(IdleBaseline, PowerLimitUnderLoad_IsNotTakenForIdle) {
  Zone zone([](double) { return 100.0; });
  for (const double busy : {0.5, 0.9}) zone.Run(1h, busy);
  EXPECT_DOUBLE_EQ(zone.watts(), 50);
  EXPECT_GE(zone.uncertainty(), 50);
}

TEST(IdleBaseline, LessPowerUnderLoadThanIdleBefore_IsTheLimit) {
  Zone zone([](double) { return 20.0; });
  zone.Run(10min, 0);
  zone.Change([](double) { return 15.0; });
  zone.Run(10min, 1);
  EXPECT_DOUBLE_EQ(zone.watts(), 15);
  EXPECT_GE(zone.uncertainty(), 5);
}

/// Sleep states were forbidden, say, on a machine that was quiet only once.
TEST(IdleBaseline, QuietTimeLongAgo_GivesWayToWhatIsSeenSince) {
  Zone zone([](double) { return 20.0; });
  zone.Run(1h, 0.001);
  zone.Change([](double) { return 45.0; });
  zone.Run(1h, 0.03);
  EXPECT_NEAR(zone.watts(), 20, 0.1);
  zone.Run(72h, 0.03);
  EXPECT_NEAR(zone.watts(), 45, 3);
}

TEST(IdleBaseline, ZoneThatCpuUseDoesNotMatterTo_IsNearlyAllIdle) {
  Zone zone([](double) { return 5.0; });
  zone.BeNoisy(0.1);
  for (const double busy : {0.004, 0.5, 1.0, 0.004}) zone.Run(10min, busy);
  EXPECT_NEAR(zone.watts(), 5, 0.5);
  EXPECT_LT(zone.uncertainty(), 0.6);
}

TEST(IdleBaseline, ReadEveryFifteenSeconds_UsageIsThatOfTheWholeTime) {
  Zone zone([](double) { return 0.0; });
  const auto fifteen = [&](double busy) {
    zone.fit().Learn(std::nullopt, Ratio::Clamped(busy), 5s);
    zone.fit().Learn(std::nullopt, Ratio::Clamped(0), 5s);
    zone.fit().Learn(Power::Watts(Line(busy / 3)), Ratio::Clamped(0), 5s);
  };
  for (int i = 0; i < 40; ++i) fifteen(0);
  for (int i = 0; i < 40; ++i) fifteen(0.9);
  EXPECT_DOUBLE_EQ(zone.watts(), 20);
  EXPECT_EQ(zone.confidence(), Confidence::kMeasured);
}

/// Within ten milliseconds a processor is either busy or not, whatever the load.
TEST(IdleBaseline, ShortIntervals_ArePutTogether) {
  Zone zone(Line);
  for (int i = 0; i < 10'000; ++i) zone.Show(Line(0.5), i % 2 == 0 ? 0 : 1, 10ms);
  EXPECT_EQ(zone.confidence(), Confidence::kLearning) << "half busy, all the time";
}

TEST(IdleBaseline, IntervalThatMayHoldASleep_TeachesNothing) {
  Zone zone(Line);
  zone.Run(10min, 0);
  zone.Show(0.01, 0, 8h);
  zone.Show(0.01, 0, 8h);
  EXPECT_DOUBLE_EQ(zone.watts(), 20);
  zone.Show(0, 0, 500ms);
  zone.fit().Skip(8h);
  zone.Run(10min, 0);
  EXPECT_DOUBLE_EQ(zone.watts(), 20) << "what was pending at a gap is forgotten";
}

TEST(ShareAbove, NeverMoreThanThereIs) {
  const auto share = [](double baseline, double power) {
    return ShareAbove(Power::Watts(baseline), Power::Watts(power)).value();
  };
  EXPECT_EQ(share(20, 80), 0.75);
  EXPECT_EQ(share(20, 20), 0);
  EXPECT_EQ(share(20, 10), 0);
  EXPECT_EQ(share(20, 0), 0);
  EXPECT_EQ(share(0, 0), 0);
  EXPECT_EQ(share(0, 10), 1);
}

}  // namespace
}  // namespace kepler::attribution
