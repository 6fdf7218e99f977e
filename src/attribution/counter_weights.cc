#include "attribution/counter_weights.h"

#include <algorithm>
#include <cmath>

namespace kepler::attribution {
namespace {

using snapshot::Method;

/// Minimum squared sine of the angle between cycles and instructions. Below it, the two cannot be separated.
constexpr double kIndistinct = 1e-4;

bool Usable(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

void MixFit::Learn(double cycles, double instructions, double energy) {
  if (!Usable(cycles) || !Usable(instructions) || !Usable(energy)) return;
  const auto add = [](double& sum, double product) { sum = sum * kMemory + product; };
  add(cc_, cycles * cycles);
  add(ci_, cycles * instructions);
  add(ii_, instructions * instructions);
  add(ce_, cycles * energy);
  add(ie_, instructions * energy);
  if (ticks_ < kEnoughTicks) ++ticks_;
}

std::optional<MixFit::Mix> MixFit::Solve() const {
  if (ticks_ < kEnoughTicks || !(cc_ > 0) || !(ii_ > 0)) return std::nullopt;
  // Both columns are scaled to length 1, so that neither large nor small counts lose digits.
  const double c = std::sqrt(cc_);
  const double i = std::sqrt(ii_);
  const double cosine = ci_ / c / i;
  const double along_c = ce_ / c;
  const double along_i = ie_ / i;
  const double sine2 = 1 - cosine * cosine;
  if (!(sine2 > kIndistinct) || !std::isfinite(along_c) || !std::isfinite(along_i)) return std::nullopt;
  double per_c = (along_c - cosine * along_i) / sine2;
  double per_i = (along_i - cosine * along_c) / sine2;
  // If one cost is negative, the best solution without negative costs has only the other column. At most one cost is
  // negative, because all sums are sums of non-negative products.
  if (per_c < 0) {
    per_c = 0;
    per_i = along_i;
  } else if (per_i < 0) {
    per_c = along_c;
    per_i = 0;
  }
  const Mix mix{per_c / c, per_i / i};
  if (!Usable(mix.per_cycle) || !Usable(mix.per_instruction) || mix.per_cycle + mix.per_instruction <= 0)
    return std::nullopt;
  return mix;
}

void CounterWeights::SetZones(std::span<const status::Zone> zones) {
  zones_.resize(zones.size());
  for (size_t z = 0; z < zones.size(); ++z) zones_[z].memory = zones[z].name == "dram";
}

void CounterWeights::BeginTick() {
  const std::span<const uint64_t> cpu = usage().time();
  const std::span<const HardwareEvents> events = usage().events();
  cpu_sum_ = counted_cpu_ = cycles_ = instructions_ = 0;
  for (size_t i = 0; i < cpu.size(); ++i) {
    const auto time = static_cast<double>(cpu[i]);
    cpu_sum_ += time;
    if (events[i] == HardwareEvents{}) continue;
    counted_cpu_ += time;
    cycles_ += static_cast<double>(events[i].cycles);
    instructions_ += static_cast<double>(events[i].instructions);
  }
}

/// Fills weights_ from raw(events). Returns false if no user has these events.
template <class Raw>
bool CounterWeights::Weigh(const Raw& raw) {
  const std::span<const HardwareEvents> all = usage().events();
  double sum = 0;
  for (const HardwareEvents& events : all) sum += raw(events);
  const double per_nanosecond = sum / counted_cpu_;
  const double scale = kWeightSum / (sum + per_nanosecond * (cpu_sum_ - counted_cpu_));
  if (!(sum > 0) || !std::isfinite(per_nanosecond) || !std::isfinite(scale)) return false;
  weights_.resize(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const bool counted = all[i] != HardwareEvents{};
    const double weight = counted ? raw(all[i]) : per_nanosecond * static_cast<double>(usage().time()[i]);
    weights_[i] = static_cast<uint64_t>(std::llround(std::min(weight * scale, kWeightSum)));
  }
  return true;
}

std::span<const uint64_t> CounterWeights::Of(size_t zone, Energy active, bool learn) {
  ZoneState& state = zones_[zone];
  if (!(cpu_sum_ > 0)) return usage().time();  // nothing ran: the method stays
  state.method = Method::kCpuTime;
  if (!(counted_cpu_ > 0)) return usage().time();
  if (state.memory) {
    if (!Weigh([](const HardwareEvents& events) { return static_cast<double>(events.cache_misses); }))
      return usage().time();
    state.method = Method::kCacheMisses;
    return weights_;
  }
  if (learn && active > Energy{}) {
    // Users without events used a part of the energy too.
    const double all = cpu_sum_ / counted_cpu_;
    state.fit.Learn(cycles_ * all, instructions_ * all, static_cast<double>(active.microjoules()));
  }
  const auto mix = state.fit.Solve();
  const auto mixed = [&](const HardwareEvents& events) {
    return mix->per_cycle * static_cast<double>(events.cycles) +
           mix->per_instruction * static_cast<double>(events.instructions);
  };
  if (mix && Weigh(mixed))
    state.method = Method::kCyclesInstructionsMix;
  else if (Weigh([](const HardwareEvents& events) { return static_cast<double>(events.cycles); }))
    state.method = Method::kCycles;
  else
    return usage().time();
  return weights_;
}

}  // namespace kepler::attribution
