#include <charconv>

#include "export/prometheus/rows.h"

// The tables with many rows. A row's labels are put together once and shared by its zones: `zone` sorts last at every
// level, so only the tail differs.

namespace kepler::prometheus {

using snapshot::ContainerIdentity;
using snapshot::PodIdentity;
using snapshot::ProcessIdentity;
using snapshot::State;
using snapshot::Table;
using snapshot::VmIdentity;

namespace {

/// `state` without a value is left out.
void StateLabel(SampleWriter& out, const State* state) {
  if (state != nullptr) out.Label("state", ToString(*state));
}

void WriteLabels(SampleWriter& out, const ProcessIdentity& id, const State* state) {
  char pid[16];
  const char* pid_end = std::to_chars(pid, pid + sizeof pid, id.pid).ptr;
  out.Label("comm", id.comm);
  out.Label("container_id", id.container_id);
  out.Label("exe", id.exe);
  out.NodeNameLabel();
  out.Label("pid", {pid, static_cast<size_t>(pid_end - pid)});
  StateLabel(out, state);
  out.Label("type", id.type);
  out.Label("vm_id", id.vm_id);
}

void WriteLabels(SampleWriter& out, const ContainerIdentity& id, const State* state) {
  out.Label("container_id", id.id);
  out.Label("container_name", id.name);
  out.NodeNameLabel();
  out.Label("pod_id", id.pod_id);
  out.Label("runtime", id.runtime);
  StateLabel(out, state);
}

void WriteLabels(SampleWriter& out, const VmIdentity& id, const State* state) {
  out.Label("hypervisor", id.hypervisor);
  out.NodeNameLabel();
  StateLabel(out, state);
  out.Label("vm_id", id.id);
  out.Label("vm_name", id.name);
}

void WriteLabels(SampleWriter& out, const PodIdentity& id, const State* state) {
  out.NodeNameLabel();
  out.Label("pod_id", id.id);
  out.Label("pod_name", id.name);
  out.Label("pod_namespace", id.name_space);
  StateLabel(out, state);
}

/// write(at, index): the number of cell `index` of the table.
template <class Identity, class WriteCell>
void AddCells(const Table<Identity>& table, const std::vector<RowContext::ZoneTail>& zones, SampleWriter& out,
              const WriteCell& write) {
  if (out.counting()) {
    out.Count(table.rows() * zones.size());
    return;
  }
  if (zones.empty()) return;
  for (size_t row = 0; row < table.rows(); ++row) {
    out.OpenRow();
    WriteLabels(out, *table.identity[row], &table.state[row]);
    for (const auto& zone : zones)
      out.Sample(zone.text, [&](char* at) { return write(at, row * table.zones + zone.index); });
  }
}

template <class Identity>
void AddJoules(const RowContext& c, SampleWriter& out, const Table<Identity>& table) {
  AddCells(table, c.zones, out, [&](char* at, size_t cell) { return WriteJoules(at, table.energy[cell]); });
}

template <class Identity>
void AddWatts(const RowContext& c, SampleWriter& out, const Table<Identity>& table) {
  AddCells(table, c.fresh_zones, out, [&](char* at, size_t cell) { return WriteDouble(at, table.watts[cell]); });
}

/// One sample for each row, without a zone; write(at, row): its number. `with_state` is false for the one family that
/// upstream has without that label, and for those that go with it.
template <class Identity, class WriteRow>
void AddRows(SampleWriter& out, const Table<Identity>& table, bool with_state, const WriteRow& write) {
  if (out.counting()) {
    out.Count(table.rows());
    return;
  }
  for (size_t row = 0; row < table.rows(); ++row) {
    out.OpenRow();
    WriteLabels(out, *table.identity[row], with_state ? &table.state[row] : nullptr);
    out.Sample("} ", [&](char* at) { return write(at, row); });
  }
}

template <class Identity>
void AddSeconds(SampleWriter& out, const Table<Identity>& table, bool with_state) {
  AddRows(out, table, with_state, [&](char* at, size_t row) { return WriteSeconds(at, table.cpu[row]); });
}

template <class Identity>
void AddEvents(SampleWriter& out, const Table<Identity>& table, bool with_state, uint64_t HardwareEvents::* member) {
  if (table.events.empty()) return;
  AddRows(out, table, with_state,
          [&](char* at, size_t row) { return std::to_chars(at, at + kNumberRoom, table.events[row].*member).ptr; });
}

}  // namespace

void AddProcessEvents(const RowContext& c, SampleWriter& out, uint64_t HardwareEvents::* member) {
  AddEvents(out, c.snapshot.processes, false, member);
}
void AddContainerEvents(const RowContext& c, SampleWriter& out, uint64_t HardwareEvents::* member) {
  AddEvents(out, c.snapshot.containers, true, member);
}

void ProcessJoules(const RowContext& c, SampleWriter& out) { AddJoules(c, out, c.snapshot.processes); }
void ProcessWatts(const RowContext& c, SampleWriter& out) { AddWatts(c, out, c.snapshot.processes); }
void ProcessSeconds(const RowContext& c, SampleWriter& out) { AddSeconds(out, c.snapshot.processes, false); }
void ContainerJoules(const RowContext& c, SampleWriter& out) { AddJoules(c, out, c.snapshot.containers); }
void ContainerWatts(const RowContext& c, SampleWriter& out) { AddWatts(c, out, c.snapshot.containers); }
void ContainerSeconds(const RowContext& c, SampleWriter& out) { AddSeconds(out, c.snapshot.containers, true); }
void VmJoules(const RowContext& c, SampleWriter& out) { AddJoules(c, out, c.snapshot.vms); }
void VmWatts(const RowContext& c, SampleWriter& out) { AddWatts(c, out, c.snapshot.vms); }
void PodJoules(const RowContext& c, SampleWriter& out) { AddJoules(c, out, c.snapshot.pods); }
void PodWatts(const RowContext& c, SampleWriter& out) { AddWatts(c, out, c.snapshot.pods); }

}  // namespace kepler::prometheus
