#include "energy/other_energy.h"

#include <algorithm>

namespace kepler::energy {
namespace {

/// Ticks that are remembered: five minutes of one second.
constexpr size_t kTicks = 300;

}  // namespace

OtherEnergy::OtherEnergy() { parts_.reserve(kTicks); }

void OtherEnergy::AddParts(Energy energy, BootTime at) {
  parts_total_ += energy;
  if (parts_.size() < kTicks) {
    parts_.push_back({at, parts_total_});
    return;
  }
  parts_[next_] = {at, parts_total_};
  next_ = (next_ + 1) % kTicks;
}

/// Total at that time; the oldest or latest known total if the time is outside of what is remembered.
Energy OtherEnergy::PartsAt(BootTime at) const {
  const size_t oldest = parts_.size() < kTicks ? 0 : next_;
  Point before = parts_[oldest];
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Point& point = parts_[(oldest + i) % parts_.size()];
    if (point.at >= at) {
      const auto span = static_cast<double>((point.at - before.at).count());
      if (span <= 0 || before.at >= at) return point.total;
      const double share = static_cast<double>((at - before.at).count()) / span;
      const auto energy = static_cast<double>((point.total - before.total).microjoules());
      return before.total + Energy::Microjoules(static_cast<int64_t>(share * energy));
    }
    before = point;
  }
  return before.total;
}

void OtherEnergy::AddPlatform(Energy energy, BootTime at, bool continues) {
  if (parts_.empty()) return;
  const Energy parts = PartsAt(at);
  if (continues && parts_before_) {
    balance_ += energy - (parts - *parts_before_);
    const Energy before = result_ ? result_->energy : Energy();
    const Energy highest = std::max(before, balance_);
    result_ = {.energy = highest, .debt = highest - balance_};
  }
  parts_before_ = parts;
}

}  // namespace kepler::energy
