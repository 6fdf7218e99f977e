#pragma once
// Tables with many rows. The labels of a row are built once and shared by its zones, because `zone` is the last label
// at every level.
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "export/series/rows.h"

namespace kepler::series {

/// Label values of a row in the order of its family. A null `state` is left out.
class RowLabels {
 public:
  RowLabels(const Context& /*c*/, const snapshot::ProcessIdentity& id, const snapshot::State* state) {
    const char* pid_end = std::to_chars(pid_.begin(), pid_.end(), id.pid).ptr;
    Put(id.comm, id.container_id, id.exe, std::string_view(pid_.data(), pid_end));
    PutState(state);
    Put(id.type, id.vm_id);
  }
  RowLabels(const Context& c, const snapshot::ContainerIdentity& id, const snapshot::State* state) {
    Put(id.id, id.name);
    if (c.HasKubernetesLabels()) Put(id.pod_namespace, id.pod_name);
    Put(id.pod_id, id.runtime);
    PutState(state);
  }
  RowLabels(const Context& /*c*/, const snapshot::VmIdentity& id, const snapshot::State* state) {
    Put(id.hypervisor);
    PutState(state);
    Put(id.id, id.name);
  }
  RowLabels(const Context& c, const snapshot::PodIdentity& id, const snapshot::State* state)
      : further_(id.labels.get()) {
    if (c.HasKubernetesLabels())
      Put(id.name_space, id.name, id.id);
    else
      Put(id.id, id.name, id.name_space);
    PutState(state);
  }
  RowLabels(const RowLabels&) = delete;  // its label values point to its own pid text
  RowLabels& operator=(const RowLabels&) = delete;

  [[nodiscard]] Labels labels() const { return {.values = {values_.data(), count_}, .further = further_}; }

 private:
  template <class... Texts>
  void Put(const Texts&... texts) {
    ((values_[count_++] = texts), ...);
  }
  void PutState(const snapshot::State* state) {
    if (state != nullptr) Put(ToString(*state));
  }

  std::array<std::string_view, 8> values_;
  size_t count_ = 0;
  std::array<char, 16> pid_;
  const snapshot::LabelList* further_ = nullptr;
};

/// `cells`: rows × zones.
template <class Table, class Cell>
void AddCells(const Context& c, const Table& table, bool with_state, const std::vector<ZoneLabel>& zones,
              const std::vector<Cell>& cells, Visitor& out) {
  if (zones.empty() || !out.Wants(table.rows() * zones.size())) return;
  for (size_t row = 0; row < table.rows(); ++row) {
    const RowLabels labels(c, *table.identity[row], with_state ? &table.state[row] : nullptr);
    out.AddZones(labels.labels(), zones, std::span(cells).subspan(row * table.zones, table.zones), table.begin_of(row));
  }
}

/// Emits one sample per row, without a zone; value(row) returns the number. `with_state` is false for the one upstream
/// family without that label, and for its related families.
template <class Table, class Value>
void AddRows(const Context& c, const Table& table, bool with_state, const Value& value, Visitor& out) {
  if (!out.Wants(table.rows())) return;
  for (size_t row = 0; row < table.rows(); ++row) {
    const RowLabels labels(c, *table.identity[row], with_state ? &table.state[row] : nullptr);
    out.Add(labels.labels(), value(row), table.begin_of(row));
  }
}

// Rows of a table of the snapshot, for energy_families.cc. Labels: those of the identity, state, zone.
template <auto kTable>
void Joules(const Context& c, Visitor& out) {
  AddCells(c, c.snapshot.*kTable, c.selection.state_label, c.zones, (c.snapshot.*kTable).energy, out);
}
/// Emits rows only if workloads of that level share idle energy.
template <auto kTable, snapshot::Level kLevel>
void IdleJoules(const Context& c, Visitor& out) {
  if (SharesIdle(c.snapshot, kLevel))
    AddCells(c, c.snapshot.*kTable, c.selection.state_label, c.idle_zones, (c.snapshot.*kTable).energy, out);
}
template <auto kTable>
void Watts(const Context& c, Visitor& out) {
  AddCells(c, c.snapshot.*kTable, c.selection.state_label, c.fresh_zones, (c.snapshot.*kTable).watts, out);
}
template <auto kTable, bool kWithState>
void Seconds(const Context& c, Visitor& out) {
  const auto& table = c.snapshot.*kTable;
  AddRows(c, table, kWithState && c.selection.state_label, [&](size_t row) { return Of(table.cpu[row]); }, out);
}
template <auto kTable, bool kWithState, auto kMember>
void Events(const Context& c, Visitor& out) {
  const auto& table = c.snapshot.*kTable;
  if (!table.events.empty())
    AddRows(
        c, table, kWithState && c.selection.state_label, [&](size_t row) { return Of(table.events[row].*kMember); },
        out);
}
/// Emits a row for every VM, so that a join with it leaves out no energy.
inline void VmInfo(const Context& c, Visitor& out) {
  const auto& vms = c.snapshot.vms;
  if (!out.Wants(vms.rows())) return;
  for (size_t row = 0; row < vms.rows(); ++row) {
    const auto& [id, name, hypervisor, metadata] = *vms.identity[row];
    out.Add({metadata.flavor, hypervisor, metadata.instance_name, metadata.project_id, metadata.project_name,
             metadata.user_name, id, name},
            Of(uint64_t{1}), vms.begin_of(row));
  }
}
/// Emits rows only if the other families have no label `state`.
template <auto kTable>
void States(const Context& c, Visitor& out) {
  if (!c.selection.state_label) AddRows(c, c.snapshot.*kTable, true, [](size_t) { return Of(uint64_t{1}); }, out);
}

}  // namespace kepler::series
