#include "attribution/idle_baseline.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace kepler::attribution {
namespace {

/// Busier than this the power is not taken to be nearly that without work.
constexpr double kNextToIdle = 0.05;
/// How far apart, in usage ratio, the bins must be that a line is put through.
constexpr double kSpan = 0.1;
/// Where there is no line: a machine is taken to need three times as much at full load as it does here, and nothing is
/// said of one that is busier than this.
constexpr double kUsualSlope = 2;
constexpr double kBusiestWithoutLine = 0.2;

double Seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void IdleBaselineFit::Learn(std::optional<Power> power, Ratio busy, Nanoseconds elapsed) {
  const double seconds = Seconds(elapsed);
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
  now_ += Seconds(elapsed);
  pending_ = {};
}

/// A plain mean for the first minute; then it follows. What one interval shows counts only as far as the one before
/// shows it too, so a single reading moves nothing.
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

/// What is least uncertain counts. So the quietest bin does, until it was not seen for so long that the way down from
/// a busier one is the better guess.
void IdleBaselineFit::Conclude() {
  std::optional<snapshot::IdleBaseline> best;
  for (const Bin& bin : bins_) {
    const auto found = From(bin);
    if (found && (!best || found->uncertainty < best->uncertainty)) best = found;
  }
  if (best) latest_ = *best;
}

/// Watts per usage ratio, by least squares through the anchor.
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
  // At least as steep as the ratio policy takes it to be: under a power limit power looks flat, as if all were idle.
  const double slope = std::max(line.value_or(kUsualSlope * anchor.watts), anchor.watts);
  double watts = std::max(anchor.watts - slope * anchor.busy, 0.0);
  for (const Bin& bin : bins_)
    if (bin.known() && bin.last > anchor.last) watts = std::min(watts, bin.watts);
  // Power is a curve: steep where the first processors wake up, flat towards full load. So a line may be wrong by as
  // much as it goes down.
  const double aging = watts * (now_ - anchor.last) / kAging;
  const double uncertainty = (anchor.watts - watts) + anchor.spread + aging;
  const bool measured = anchor.busy <= kNextToIdle;
  return snapshot::IdleBaseline{
      .confidence = measured ? snapshot::Confidence::kMeasured : snapshot::Confidence::kExtrapolated,
      .power = Power::Watts(watts),
      .uncertainty = Power::Watts(uncertainty)};
}

}  // namespace kepler::attribution
