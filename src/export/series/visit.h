#pragma once
// VisitSeries: passes all samples of a snapshot, family by family, to a visitor. The visitor encodes them as text,
// protobuf or OTLP. Pure; any thread.
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/build_info.h"
#include "base/clock.h"
#include "base/units.h"
#include "export/series/family.h"
#include "export/series/number.h"
#include "snapshot/snapshot.h"
#include "status/agent_status.h"
#include "status/http_status.h"
#include "status/push_status.h"

namespace kepler::series {

/// The labels of one sample.
struct Labels {
  std::span<const std::string_view> values;      // values of the family's labels in order, without node_name
  const snapshot::LabelList* further = nullptr;  // labels that are not in the family's list; null if there are none
};

/// A zone as the last label of a family.
struct ZoneLabel {
  size_t index = 0;  // in the snapshot
  std::string_view name;
};

/// One cell per zone of the snapshot: joules or watts.
using Cells = std::variant<std::span<const Energy>, std::span<const double>>;

class Visitor {
 public:
  virtual ~Visitor() = default;
  /// Starts the samples of `family`. A family may have no samples.
  virtual void Begin(const Family& family) = 0;
  /// Announces the number of samples. Returns false if the visitor needs no samples of this family.
  [[nodiscard]] virtual bool Wants(size_t /*samples*/) { return true; }
  /// `begin`: time at which the series was 0, which for a counter is the begin of its total. {}: start of the agent.
  virtual void Add(const Labels& labels, const Number& value, BootTime begin) = 0;
  void Add(std::initializer_list<std::string_view> values, const Number& value, BootTime begin = {}) {
    Add(Labels{.values = {values.begin(), values.size()}}, value, begin);
  }
  /// Adds one sample for each zone. The zone's name is the last label and is not in `labels`. The value is the cell at
  /// the zone's index. All rows of a family have the same zones.
  virtual void AddZones(const Labels& labels, std::span<const ZoneLabel> zones, const Cells& cells, BootTime begin) = 0;
};

/// Options that are constant while the agent runs.
struct Selection {
  uint32_t levels = kAllLevels;  // bits of Gate
  BuildInfo build{};
  bool state_label = true;  // false: a workload has one series across its end, and its state is a *_state_info series
  NameSet names = NameSet::kV011;
  LabelSet labels = LabelSet::kV011;
  std::string node_name{};  // value of the label `instance` of 0.7's families
};

/// Values that are not in the snapshot and may differ between two visits.
struct Extras {
  bool stale = false;                            // the snapshot is too old: watts are left out
  const status::SelfStatus* self = nullptr;      // null: the `process` collector is off
  const status::HttpStatus* http = nullptr;      // null: there is no HTTP server
  std::span<const status::PushStatus> pushes{};  // of each exporter that pushes
  uint64_t failed = 0;                           // renderings that failed so far
  uint64_t log_lines_dropped = 0;                // so far
  uint64_t exposed_series = 0;                   // samples of the whole visit: CountSamples()
};

/// Visits families in order of name, with the rows of each family in snapshot order. Allocates per visit, not per row.
void VisitSeries(const snapshot::Snapshot& snapshot, const Selection& selection, const Extras& extras,
                 Visitor& visitor);

[[nodiscard]] uint64_t CountSamples(const snapshot::Snapshot& snapshot, const Selection& selection,
                                    const Extras& extras);

}  // namespace kepler::series
