#include "apps/kepler/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cgroup/command_group.h"
#include "cgroup/owner.h"
#include "export/stdout/text_table.h"
#include "json/document.h"

namespace kepler::agent {
namespace {

constexpr size_t kMaxCell = 80;

double WattsOver(Energy energy, Nanoseconds time) { return time > Nanoseconds::zero() ? (energy / time).watts() : 0; }

/// Of the machine's energy.
double ShareOf(const RunZone& zone) {
  return zone.command && zone.total.microjoules() > 0 ? zone.command->ToJoules() / zone.total.ToJoules() : 0;
}

std::optional<size_t> FindRow(const snapshot::Table<snapshot::ContainerIdentity>& table, std::string_view container) {
  for (size_t row = 0; row < table.rows(); ++row) {
    const snapshot::ContainerIdentity& identity = *table.identity[row];
    if (identity.runtime == cgroup::kCommandRuntime && cgroup::PlainId(identity.id) == container) return row;
  }
  return std::nullopt;
}

/// Whether the meter has given an amount since the first tick. No machine uses 0 J, but a zone within a CPU may.
bool HasReading(status::Domain domain, const snapshot::NodeZone& node) {
  return node.total > Energy() || (node.fresh && domain != status::Domain::kPlatform);
}

/// Sets what is known of the error of an estimated zone.
void FindError(const snapshot::Snapshot& snapshot, RunZone& zone) {
  for (const status::EstimateStatus& estimate : snapshot.estimates) {
    if (estimate.of_workloads) continue;
    for (const status::ZoneModel& model : *estimate.models)
      if (model.zone == zone.name) zone.error_watts = model.error_watts;
  }
}

/// One line for each meter and each estimate: those of all zones are wider than a terminal.
std::string MeterLines(const RunReport& report) {
  std::vector<std::string> texts;
  for (const RunZone& zone : report.zones) {
    std::string text = zone.source;
    if (zone.origin == status::Origin::kSimulated) text += ": simulated, nothing is measured";
    if (zone.origin == status::Origin::kEstimated)
      text = zone.error_watts > 0
                 ? fmt::format("{} is an estimate of a power model, ± {:.3g} W", zone.name, zone.error_watts)
                 : fmt::format("{} is an estimate of a power model, error unknown", zone.name);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  std::string lines;
  for (const std::string& text : texts)
    lines += fmt::format("{:<8}{}\n", lines.empty() ? "Meters:" : "", console::Printable(text, kMaxCell));
  return lines;
}

}  // namespace

void FillFrom(const snapshot::Snapshot& snapshot, BootTime begin, std::string_view container, RunReport& report) {
  report.measured = snapshot.taken_boot - begin;
  report.cpus = snapshot.cpus->size();
  report.zones.clear();
  report.unmeasured.clear();
  const auto row = FindRow(snapshot.containers, container);
  if (row) report.cpu = snapshot.containers.cpu[*row];
  for (size_t z = 0; z < snapshot.zones.size(); ++z) {
    const status::Zone& from = snapshot.zones[z];
    if (from.domain == status::Domain::kIdleCpu) continue;
    if (!HasReading(from.domain, snapshot.node[z])) {
      report.unmeasured.push_back(from.name);
      continue;
    }
    RunZone zone{.name = from.name,
                 .path = from.path,
                 .source = from.source,
                 .origin = status::OriginOf(from.source),
                 .error_watts = 0,
                 .command = std::nullopt,
                 .active = snapshot.node[z].active,
                 .total = snapshot.node[z].total,
                 .measured = snapshot.taken_boot - std::max(begin, snapshot.node[z].begin)};
    if (from.domain == status::Domain::kCpu && z < snapshot.containers.zones)
      zone.command = row ? snapshot.containers.energy_at(*row, z) : Energy();
    if (zone.origin == status::Origin::kEstimated) FindError(snapshot, zone);
    report.zones.push_back(std::move(zone));
  }
}

std::string RunText(const RunReport& report) {
  using console::Align;
  constexpr std::chrono::milliseconds kMaxFirstTick{500};  // with many processes
  constexpr std::chrono::milliseconds kMinOutside{10};     // less may be the kernel's rounding
  const double seconds = ToSeconds(report.duration);
  std::string text = fmt::format("\nCommand    {}\nExit code  {}\nTime       {:.3f} s\nCPU time   {:.3f} s",
                                 console::Printable(fmt::format("{}", fmt::join(report.argv, " ")), kMaxCell),
                                 report.exit_code, seconds, ToSeconds(report.cpu));
  if (seconds > 0) text += fmt::format(", on average {:.2f} of {} CPUs", ToSeconds(report.cpu) / seconds, report.cpus);
  text += "\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const RunZone& zone : report.zones) {
    const auto joules = [](Energy energy) { return fmt::format("{:.3f}", energy.ToJoules()); };
    const Nanoseconds time = std::min(report.duration, zone.measured);
    rows.push_back({console::Printable(zone.name, kMaxCell), zone.command ? joules(*zone.command) : "-",
                    zone.command ? fmt::format("{:.2f}", WattsOver(*zone.command, time)) : "-",
                    zone.command ? fmt::format("{:.1f} %", ShareOf(zone) * 100) : "-", joules(zone.total),
                    fmt::format("{:.2f}", WattsOver(zone.total, zone.measured))});
  }
  text += console::DrawTable({{"Zone", Align::kLeft},
                              {"Joules", Align::kRight},
                              {"Watts", Align::kRight},
                              {"Share", Align::kRight},
                              {"Machine joules", Align::kRight},
                              {"Machine watts", Align::kRight}},
                             rows);
  text += MeterLines(report);
  for (const RunZone& zone : report.zones)
    if (report.measured - zone.measured > kMaxFirstTick)
      text += fmt::format("The first reading of the meter of {} was late: its figures cover only the last {:.3f} s\n",
                          console::Printable(zone.name, kMaxCell), ToSeconds(zone.measured));
  for (const std::string& zone : report.unmeasured)
    text += fmt::format("Not measured: {}: its meter had no reading within the {:.3f} s\n",
                        console::Printable(zone, kMaxCell), seconds);
  if (report.outside > std::max<Nanoseconds>(kMinOutside, report.cpu / 100))
    text += fmt::format(
        "Not counted: {:.3f} s of CPU time in other cgroups: of a kepler run, systemd-run or container within the "
        "command\n",
        ToSeconds(report.outside));
  if (report.left_running > 0)
    text += fmt::format("{} of the command still run{}; the energy is counted up to the end of the command\n",
                        report.left_running == 1 ? "1 process" : fmt::format("{} processes", report.left_running),
                        report.left_running == 1 ? "s" : "");
  return text;
}

std::string RunJson(const RunReport& report) {
  std::vector<std::string> zones;
  for (const RunZone& zone : report.zones) {
    const std::string joules = zone.command ? fmt::format("{}", zone.command->ToJoules()) : "null";
    const std::string share = zone.command ? fmt::format("{}", ShareOf(zone)) : "null";
    const std::string error = zone.error_watts > 0 ? fmt::format("{}", zone.error_watts) : "null";
    zones.push_back(fmt::format(
        R"({{"zone":{},"path":{},"source":{},"estimated":{},"simulated":{},)"
        R"("error_watts":{},"joules":{},"share":{},"machine_active_joules":{},"machine_joules":{},"measured_seconds":{}}})",
        json::Quote(zone.name), json::Quote(zone.path), json::Quote(zone.source),
        zone.origin == status::Origin::kEstimated, zone.origin == status::Origin::kSimulated, error, joules, share,
        zone.active.ToJoules(), zone.total.ToJoules(), ToSeconds(zone.measured)));
  }
  return fmt::format(R"({{"version":1,"command":{},"exit_code":{},"seconds":{},"measured_seconds":{},"cpu_seconds":{},)"
                     R"("outside_cpu_seconds":{},"cpus":{},"left_running":{},"zones":[{}],"unmeasured":{}}})"
                     "\n",
                     json::QuoteList(report.argv), report.exit_code, ToSeconds(report.duration),
                     ToSeconds(report.measured), ToSeconds(report.cpu), ToSeconds(report.outside), report.cpus,
                     report.left_running, fmt::join(zones, ","), json::QuoteList(report.unmeasured));
}

}  // namespace kepler::agent
