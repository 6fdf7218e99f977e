#pragma once
// VisitSeries: shows everything that a snapshot has to say, family by family, to whoever turns it into bytes: text,
// protobuf, OTLP. Pure; any thread.
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <variant>

#include "base/build_info.h"
#include "base/clock.h"
#include "base/units.h"
#include "export/series/family.h"
#include "snapshot/snapshot.h"

namespace kepler::series {

/// The value of a sample, as exact as it is known.
using Number = std::variant<Energy, Nanoseconds, uint64_t, double>;
[[nodiscard]] inline Number Of(Energy energy) { return energy; }
[[nodiscard]] inline Number Of(Nanoseconds time) { return time; }
[[nodiscard]] inline Number Of(Ratio ratio) { return ratio.value(); }
[[nodiscard]] inline Number Of(uint64_t count) { return count; }
[[nodiscard]] inline Number Of(double value) { return value; }
[[nodiscard]] inline Number Of(bool value) { return uint64_t{value}; }
/// Time since the epoch; the epoch itself, "never", is 0.
[[nodiscard]] inline Number Of(WallTime time) { return Nanoseconds(time.time_since_epoch()); }

/// The labels of one sample.
struct Labels {
  std::span<const std::string_view> values;      // of the family's labels in their order, without node_name
  const snapshot::LabelList* further = nullptr;  // beyond those; null: none
};

/// A zone as the last label of a family.
struct ZoneLabel {
  size_t index = 0;  // in the snapshot
  std::string_view name;
};

class Visitor {
 public:
  virtual ~Visitor() = default;
  /// The samples that follow are of `family`. There may be none.
  virtual void Begin(const Family& family) = 0;
  /// So many samples follow. False: the visitor wants to know no more of them.
  [[nodiscard]] virtual bool Wants(size_t /*samples*/) { return true; }
  /// `begin`: when the series was 0, which for a counter is the begin of its total; {}: when the agent started.
  virtual void Add(const Labels& labels, const Number& value, BootTime begin) = 0;
  void Add(std::initializer_list<std::string_view> values, const Number& value, BootTime begin = {}) {
    Add(Labels{.values = {values.begin(), values.size()}}, value, begin);
  }
  // One sample for each of `zones`, whose names are the last label (and not in `labels`); its value is the cell of that
  // index. All rows of a family have the same zones.
  virtual void AddZones(const Labels& labels, std::span<const ZoneLabel> zones, std::span<const Energy> cells,
                        BootTime begin) = 0;
  virtual void AddZones(const Labels& labels, std::span<const ZoneLabel> zones, std::span<const double> cells,
                        BootTime begin) = 0;
};

/// What stays the same while the agent runs.
struct Selection {
  uint32_t levels = kAllLevels;  // bits of Gate
  BuildInfo build{};
};

/// What a snapshot does not know, and may differ from one visit of it to the next.
struct Extras {
  bool stale = false;                          // the snapshot is too old for its watts to be true: they are left out
  const snapshot::SelfStatus* self = nullptr;  // null: the `process` collector is off
  const snapshot::HttpStatus* http = nullptr;  // null: nobody serves
  uint64_t failed = 0;                         // renderings that failed so far
  uint64_t log_lines_dropped = 0;              // so far
  uint64_t exposed_series = 0;                 // samples of the whole visit: CountSamples()
};

/// Families by name, each with the rows of the snapshot in their order. Allocates per visit, not per row.
void VisitSeries(const snapshot::Snapshot& snapshot, const Selection& selection, const Extras& extras,
                 Visitor& visitor);

[[nodiscard]] uint64_t CountSamples(const snapshot::Snapshot& snapshot, const Selection& selection,
                                    const Extras& extras);

}  // namespace kepler::series
