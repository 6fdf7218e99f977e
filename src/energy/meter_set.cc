#include "energy/meter_set.h"

#include <utility>

namespace kepler::energy {

MeterSet::MeterSet(std::unique_ptr<MeterSelector> cpu) : cpu_(std::move(cpu)) { Gather(); }

void MeterSet::Add(std::unique_ptr<PolledSource> source, const Clock& clock) {
  others_.push_back({std::make_unique<Meter>(std::move(source), clock)});
}

void MeterSet::Sample() {
  cpu_->Sample();
  for (Other& other : others_) {
    if (other.open) {
      other.meter->Sample();
    } else if (other.meter->Open()) {
      other.open = true;
      other.meter->Announce();
    }
  }
  Gather();
}

void MeterSet::Gather() {
  deltas_.clear();
  Append(cpu_->current());
  for (const Other& other : others_)
    if (other.open) Append(*other.meter);
  zones_.resize(deltas_.size());
}

void MeterSet::Append(const Meter& meter) {
  for (size_t z = 0; z < meter.zones().size(); ++z) {
    // One that was opened just now has not been sampled.
    deltas_.push_back(z < meter.deltas().size() ? meter.deltas()[z] : ZoneDelta{});
    if (zones_.size() < deltas_.size()) zones_.resize(deltas_.size());
    snapshot::Zone& zone = zones_[deltas_.size() - 1];
    if (zone != meter.zones()[z]) zone = meter.zones()[z];
  }
}

size_t MeterSet::primary_zone() const { return SelectPrimaryZone(cpu_->current().zones()); }

std::vector<snapshot::SourceStatus> MeterSet::status() const {
  std::vector<snapshot::SourceStatus> all = cpu_->status();
  for (const Other& other : others_) all.push_back(other.meter->status());
  return all;
}

}  // namespace kepler::energy
