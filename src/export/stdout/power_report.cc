#include "export/stdout/power_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "export/stdout/text_table.h"
#include "status/zone_origin.h"

namespace kepler::console {

using snapshot::ContainerIdentity;
using snapshot::ProcessIdentity;
using snapshot::Snapshot;
using snapshot::Table;
using snapshot::VmIdentity;

namespace {

constexpr size_t kNameColumns = 32;
constexpr size_t kIdColumns = 16;  // enough to distinguish ids; runtimes accept it as an abbreviation
constexpr std::string_view kHomeAndClear = "\x1b[H\x1b[2J";

std::string Watts(double watts, bool fresh) { return fresh ? fmt::format("{:.2f}W", watts) : "-"; }
std::string Joules(Energy energy) { return fmt::format("{:.2f}J", energy.ToJoules()); }
/// Formats a value of one workload. On a quiet machine most workloads use milliwatts, and two decimals would show 0.
std::string Small(double value, char unit) {
  if (value > 0 && value < 0.1) return fmt::format("{:.1f}m{}", value * 1e3, unit);
  return fmt::format("{:.2f}{}", value, unit);
}

std::string Seconds(Nanoseconds time) { return fmt::format("{:.2f}s", std::chrono::duration<double>(time).count()); }
std::string Name(std::string_view name) { return Printable(name, kNameColumns); }
std::string ShortId(std::string_view id) {
  return Printable(id.substr(0, std::min(id.size(), kIdColumns)), kIdColumns);
}

std::string NodeTable(const Snapshot& s, bool stale) {
  std::vector<size_t> order;
  for (size_t z = 0; z < s.zones.size(); ++z)
    if (s.zones[z].domain != status::Domain::kIdleCpu) order.push_back(z);
  std::ranges::sort(order, {}, [&](size_t z) { return std::string_view(s.zones[z].name); });
  std::vector<std::vector<std::string>> rows;
  rows.reserve(order.size());
  for (const size_t z : order)
    rows.push_back(
        {Name(s.zones[z].name), Watts(s.node[z].power.watts(), s.node[z].fresh && !stale), Joules(s.node[z].total)});
  return DrawTable({{"ZONE"}, {"POWER ( W )"}, {"ABSOLUTE ( J )"}}, rows);
}

/// Returns a line that lists the zones of `origin`; "" if there are none. The table has upstream's layout, so it has no
/// column for this.
std::string ZonesOf(const Snapshot& s, status::Origin origin, std::string_view what) {
  std::string names;
  for (const status::Zone& zone : s.zones)
    if (status::OriginOf(zone.source) == origin && zone.domain != status::Domain::kIdleCpu)
      names += (names.empty() ? "" : ", ") + Name(zone.name);
  return names.empty() ? "" : fmt::format("{}: {}\n", what, names);
}

/// Returns the rows of the `top` workloads with most power, largest first.
template <class Identity>
std::vector<size_t> Largest(const Table<Identity>& table, size_t zone, size_t top) {
  std::vector<size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  const size_t shown = std::min(top, rows.size());
  const auto larger = [&](size_t a, size_t b) {
    if (table.watts_at(a, zone) != table.watts_at(b, zone)) return table.watts_at(a, zone) > table.watts_at(b, zone);
    if (table.energy_at(a, zone) != table.energy_at(b, zone))
      return table.energy_at(a, zone) > table.energy_at(b, zone);
    return a < b;
  };
  std::partial_sort(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(shown), rows.end(), larger);
  rows.resize(shown);
  return rows;
}

std::vector<std::string> IdentityCells(const ProcessIdentity& id) {
  return {std::to_string(id.pid), Name(id.comm), ShortId(id.container_id.empty() ? id.vm_id : id.container_id)};
}
std::vector<std::string> IdentityCells(const ContainerIdentity& id) {
  return {ShortId(id.id), Name(id.name), Name(id.runtime)};
}
std::vector<std::string> IdentityCells(const VmIdentity& id) {
  return {ShortId(id.id), Name(id.name), Name(id.hypervisor)};
}

template <class Identity>
std::string WorkloadTable(const Snapshot& s, const Table<Identity>& table, std::string_view what,
                          std::array<Column, 3> identity_columns, size_t top, bool stale) {
  const size_t zone = s.primary;
  const bool has_watts = zone < s.node.size() && s.node[zone].fresh && !stale;
  if (table.rows() == 0 || zone >= table.zones) return "";
  std::vector<Column> columns = {{"WATTS"}, {"JOULES"}, {"CPU TIME"}};
  columns.insert(columns.end(), identity_columns.begin(), identity_columns.end());
  std::vector<std::vector<std::string>> rows;
  for (const size_t row : Largest(table, zone, top)) {
    std::vector<std::string> cells = {has_watts ? Small(table.watts_at(row, zone), 'W') : "-",
                                      Small(table.energy_at(row, zone).ToJoules(), 'J'), Seconds(table.cpu[row])};
    std::ranges::move(IdentityCells(*table.identity[row]), std::back_inserter(cells));
    rows.push_back(std::move(cells));
  }
  return fmt::format("\nTop {} of {} {} by {} power\n", rows.size(), table.rows(), what, Name(s.zones[zone].name)) +
         DrawTable(columns, rows);
}

}  // namespace

std::string Report(const Snapshot& s, const ReportOptions& options, bool stale) {
  std::string out(options.screen ? kHomeAndClear : "");
  out += NodeTable(s, stale);
  if (stale) out += "the last tick is too old: there are no watts\n";
  out += ZonesOf(s, status::Origin::kEstimated, "estimated by a model, not measured");
  out += ZonesOf(s, status::Origin::kSimulated, "simulated by the fake meter, not measured");
  if (options.top == 0 || s.zones.empty()) return out;
  constexpr auto kLeft = Align::kLeft;
  out += WorkloadTable(s, s.processes, "processes", {{{"PID"}, {"COMM", kLeft}, {"CONTAINER/VM", kLeft}}}, options.top,
                       stale);
  out += WorkloadTable(s, s.containers, "containers", {{{"CONTAINER", kLeft}, {"NAME", kLeft}, {"RUNTIME", kLeft}}},
                       options.top, stale);
  out += WorkloadTable(s, s.vms, "VMs", {{{"VM", kLeft}, {"NAME", kLeft}, {"HYPERVISOR", kLeft}}}, options.top, stale);
  return out;
}

}  // namespace kepler::console
