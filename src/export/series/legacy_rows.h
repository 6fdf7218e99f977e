#pragma once
// Rows of the families with the names of Kepler 0.7. They have the values of the families of 0.11: mode "dynamic" is
// active energy, mode "idle" is idle energy.
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "export/series/rows.h"

namespace kepler::series {

/// Part of the machine in a name of 0.7.
enum class Part : uint8_t { kPackage, kCore, kUncore, kDram, kPackageAndDram };

/// Zones of a part. A machine may lack the part.
struct PartZones {
  /// `among`: zones of one domain; their names are unique.
  PartZones(std::span<const ZoneLabel> among, Part part);
  PartZones() = default;
  [[nodiscard]] Energy Sum(std::span<const Energy> by_zone) const {
    Energy sum;
    for (size_t i = 0; i < count; ++i) sum += by_zone[indexes[i]];
    return sum;
  }

  std::array<size_t, 2> indexes{};
  size_t count = 0;  // 0: the machine lacks the part
};

/// Zones of the active and of the idle energy that workloads of `level` have.
struct PartModes {
  PartModes(const Context& c, snapshot::Level level, Part part)
      : active(c.zones, part), idle(SharesIdle(c.snapshot, level) ? PartZones(c.idle_zones, part) : PartZones()) {}
  [[nodiscard]] size_t samples() const { return size_t{active.count > 0} + size_t{idle.count > 0}; }
  /// Calls f(mode, zones) for each mode.
  template <class F>
  void ForEach(const F& f) const {
    if (active.count > 0) f("dynamic", active);
    if (idle.count > 0) f("idle", idle);
  }
  /// Returns the value of the label `source`. The total of several zones has none.
  [[nodiscard]] std::string_view SourceOf(const Context& c) const;

  PartZones active;
  PartZones idle;
};

/// Label values of a row in the order of its family.
class LegacyLabels {
 public:
  LegacyLabels(const Context&, const snapshot::ProcessIdentity& id, bool has_mode, std::string_view source) {
    const char* const pid_end = std::to_chars(pid_.begin(), pid_.end(), id.pid).ptr;
    Put(id.comm, id.container_id, id.exe);
    PutMode(has_mode);
    Put(std::string_view(pid_.data(), pid_end), source, id.type, id.vm_id);
  }
  LegacyLabels(const Context&, const snapshot::ContainerIdentity& id, bool has_mode, std::string_view source) {
    Put(id.id, id.name, id.pod_namespace);
    PutMode(has_mode);
    Put(id.pod_id, id.pod_name, id.runtime, source);
  }
  LegacyLabels(const Context&, const snapshot::VmIdentity& id, bool has_mode, std::string_view source) {
    Put(id.hypervisor);
    PutMode(has_mode);
    Put(source, id.id, id.name);
  }
  LegacyLabels(const LegacyLabels&) = delete;  // its label values point to its own pid text
  LegacyLabels& operator=(const LegacyLabels&) = delete;

  void SetMode(std::string_view mode) { values_[mode_] = mode; }
  [[nodiscard]] Labels labels() const { return {.values = {values_.data(), count_}}; }

 private:
  template <class... Texts>
  void Put(const Texts&... texts) {
    ((values_[count_++] = texts), ...);
  }
  void PutMode(bool has_mode) {
    mode_ = count_;
    if (has_mode) Put("");
  }

  std::array<std::string_view, 8> values_;
  size_t count_ = 0;
  size_t mode_ = 0;
  std::array<char, 16> pid_;
};

/// Returns the name that 0.7 has for the meter of a zone.
[[nodiscard]] std::string_view LegacySource(const Context& c, const status::Zone& zone);

/// Emits the energy outside all containers as the container "system_processes", as 0.7 does.
void AddSystemProcesses(const Context& c, const PartModes& modes, std::string_view source, Visitor& out);

template <auto kTable, snapshot::Level kLevel, Part kPart>
void LegacyJoules(const Context& c, Visitor& out) {
  const auto& table = c.snapshot.*kTable;
  const PartModes modes(c, kLevel, kPart);
  const std::string_view source = modes.SourceOf(c);
  if (out.Wants(table.rows() * modes.samples()))
    for (size_t row = 0; row < table.rows(); ++row) {
      LegacyLabels labels(c, *table.identity[row], true, source);
      modes.ForEach([&](std::string_view mode, const PartZones& zones) {
        labels.SetMode(mode);
        const auto cells = std::span(table.energy).subspan(row * table.zones, table.zones);
        out.Add(labels.labels(), Of(zones.Sum(cells)), table.begin_of(row));
      });
    }
  if constexpr (kLevel == snapshot::Level::kContainer) AddSystemProcesses(c, modes, source, out);
}

/// Emits a row for each workload; value(row) returns the number.
template <class Table, class Value>
void AddLegacyUse(const Context& c, const Table& table, const Value& value, Visitor& out) {
  if (!out.Wants(table.rows())) return;
  for (size_t row = 0; row < table.rows(); ++row) {
    const LegacyLabels labels(c, *table.identity[row], false, c.snapshot.activity.name);
    out.Add(labels.labels(), value(row), table.begin_of(row));
  }
}
template <auto kTable>
void LegacyMilliseconds(const Context& c, Visitor& out) {
  const auto& table = c.snapshot.*kTable;
  AddLegacyUse(c, table, [&](size_t row) { return Of(static_cast<double>(table.cpu[row].count()) / 1e6); }, out);
}
/// Emits rows only if hardware events are counted.
template <auto kTable, auto kMember>
void LegacyEvents(const Context& c, Visitor& out) {
  const auto& table = c.snapshot.*kTable;
  if (!table.events.empty()) AddLegacyUse(c, table, [&](size_t row) { return Of(table.events[row].*kMember); }, out);
}

/// Number of samples that each process has in the families with the names of 0.7.
[[nodiscard]] size_t LegacySamplesPerProcess(const Context& c);

}  // namespace kepler::series
