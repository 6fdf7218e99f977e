#include "attribution/idle_baseline.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kepler::attribution {
namespace {

/// Maximum usage ratio at which power counts as measured idle power.
constexpr double kNextToIdle = 0.05;
/// Minimum spread of usage ratios for a fitted line.
constexpr double kSpan = 0.1;
/// Used without a fitted line: the machine is assumed to need three times its present power at full load. Above the
/// second value, there is no baseline.
constexpr double kUsualSlope = 2;
constexpr double kBusiestWithoutLine = 0.2;

}  // namespace

void IdleBaselineFit::Learn(std::optional<Power> power, Ratio busy, Nanoseconds elapsed) {
  const double seconds = ToSeconds(elapsed);
  now_ += seconds;
  pending_.seconds += seconds;
  pending_.unread += seconds;
  pending_.busy += busy.value() * seconds;
  if (!power) return;
  pending_.joules += power->watts() * std::exchange(pending_.unread, 0);
  if (pending_.seconds < kShortest) return;
  const Pending whole = std::exchange(pending_, {});
  if (whole.seconds > kLongest) return;
  Note(whole.joules / whole.seconds, whole.busy / whole.seconds, whole.seconds);
  Conclude();
}

void IdleBaselineFit::Skip(Nanoseconds elapsed) {
  now_ += ToSeconds(elapsed);
  pending_ = {};
}

/// Computes a plain mean for the first minute, then a moving mean. Only a change that two consecutive intervals show
/// counts, so a single outlier has no effect.
void IdleBaselineFit::Note(double watts, double busy, double seconds) {
  const auto end = std::ranges::upper_bound(kUpperEnds.begin(), kUpperEnds.end() - 1, busy);
  Bin& bin = bins_[static_cast<size_t>(end - kUpperEnds.begin())];
  if (bin.seconds == 0) bin = {.watts = watts, .latest = watts, .busy = busy};
  const double weight = std::min(seconds, kHeaviest);
  bin.seconds += weight;
  bin.last = now_;
  const double slowly = weight / std::min(bin.seconds, kRise);
  const double fast = weight / std::min(bin.seconds, kFall);
  const auto [lower, higher] = std::minmax({watts, std::exchange(bin.latest, watts)});
  const double off = std::clamp(bin.watts, lower, higher) - bin.watts;
  bin.spread += (std::abs(watts - bin.watts) - bin.spread) * slowly;
  bin.watts += off * (off < 0 ? fast : slowly);
  bin.busy += (busy - bin.busy) * slowly;
}

/// Selects the result with the smallest uncertainty. That is normally the bin with the lowest usage ratio. If that bin
/// is old, the extrapolation from a busier bin is better.
void IdleBaselineFit::Conclude() {
  std::optional<snapshot::IdleBaseline> best;
  for (const Bin& bin : bins_) {
    const auto found = From(bin);
    if (found && (!best || found->uncertainty < best->uncertainty)) best = found;
  }
  if (best) latest_ = *best;
}

/// Returns watts per usage ratio, by least squares through the anchor.
std::optional<double> IdleBaselineFit::SlopeAt(const Bin& anchor) const {
  double squares = 0;
  double products = 0;
  for (const Bin& bin : bins_) {
    if (!bin.known()) continue;
    const double away = bin.busy - anchor.busy;
    squares += away * away;
    products += away * (bin.watts - anchor.watts);
  }
  if (squares < kSpan * kSpan) return std::nullopt;
  return products / squares;
}

std::optional<snapshot::IdleBaseline> IdleBaselineFit::From(const Bin& anchor) const {
  if (!anchor.known()) return std::nullopt;
  const std::optional<double> line = SlopeAt(anchor);
  if (!line && anchor.busy > kBusiestWithoutLine) return std::nullopt;
  // At least the slope of the ratio policy. With a power limit, power hardly depends on load and would all look idle.
  const double slope = std::max(line.value_or(kUsualSlope * anchor.watts), anchor.watts);
  double watts = std::max(anchor.watts - slope * anchor.busy, 0.0);
  for (const Bin& bin : bins_)
    if (bin.known() && bin.last > anchor.last) watts = std::min(watts, bin.watts);
  // Power rises steeply for the first busy processors and slowly near full load. The error of a line may therefore be
  // as large as the extrapolated difference.
  const double aging = watts * (now_ - anchor.last) / kAging;
  const double uncertainty = (anchor.watts - watts) + anchor.spread + aging;
  const bool measured = anchor.busy <= kNextToIdle;
  return snapshot::IdleBaseline{
      .confidence = measured ? snapshot::Confidence::kMeasured : snapshot::Confidence::kExtrapolated,
      .power = Power::Watts(watts),
      .uncertainty = Power::Watts(uncertainty)};
}

}  // namespace kepler::attribution
