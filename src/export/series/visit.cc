#include "export/series/visit.h"

#include "export/series/rows.h"

namespace kepler::series {
namespace {

class SampleCounter final : public Visitor {
 public:
  void Begin(const Family& /*family*/) override {}
  [[nodiscard]] bool Wants(size_t samples) override {
    count += samples;
    return false;
  }
  void Add(const Labels& /*labels*/, const Number& /*value*/, BootTime /*begin*/) override { ++count; }
  void AddZones(const Labels& /*labels*/, std::span<const ZoneLabel> zones, const Cells& /*cells*/,
                BootTime /*begin*/) override {
    count += zones.size();
  }

  uint64_t count = 0;
};

}  // namespace

void VisitSeries(const snapshot::Snapshot& snapshot, const Selection& selection, const Extras& extras,
                 Visitor& visitor) {
  const Context context(snapshot, selection, extras);
  const uint32_t open = selection.levels | (extras.self != nullptr ? kProcessCollector : kAlways);
  for (const Family& family : Families(selection.names, selection.state_label, selection.labels)) {
    if (family.gates != kAlways && (family.gates & open) == 0) continue;
    if (extras.stale && family.unit == "watts") continue;
    visitor.Begin(family);
    family.rows(context, visitor);
  }
}

uint64_t CountSamples(const snapshot::Snapshot& snapshot, const Selection& selection, const Extras& extras) {
  SampleCounter counter;
  VisitSeries(snapshot, selection, extras, counter);
  return counter.count;
}

}  // namespace kepler::series
