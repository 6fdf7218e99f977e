#include "export/json_lines/lines.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/text.h"
#include "export/series/figure_text.h"
#include "export/series/visit.h"
#include "status/zone_origin.h"

namespace kepler::json_lines {
namespace {

using series::JoulesText;
using series::TimeText;
using snapshot::Level;

constexpr std::array<uint32_t, snapshot::kLevels> kSelected = {
    series::kProcess, series::kContainer, series::kVm, series::kPod, series::kNamespace, series::kOwner, series::kUser};

class Writer {
 public:
  Writer(const snapshot::Snapshot& snapshot, const LineOptions& options, std::string& out)
      : snapshot_(snapshot),
        options_(options),
        head_(fmt::format(R"({{"version":{},"time":"{}","node":{})", kVersion, TimeText(snapshot.taken_at),
                          QuoteJson(options.node))),
        out_(out) {
    for (const status::Zone& zone : snapshot.zones) zones_.push_back(QuoteJson(zone.name));
  }

  /// Idle and active energy exist only where workloads share the energy.
  void Node() {
    for (size_t z = 0; z < snapshot_.node.size(); ++z) {
      const snapshot::NodeZone& zone = snapshot_.node[z];
      if (snapshot_.zones[z].domain == status::Domain::kIdleCpu) continue;  // a part of another zone
      const bool is_split = snapshot_.zones[z].domain == status::Domain::kCpu;
      Begin("node");
      Put(R"(,"zone":{},"path":{},"origin":"{}","start":"{}","joules":{})", zones_[z],
          QuoteJson(snapshot_.zones[z].path), status::ToString(status::OriginOf(snapshot_.zones[z].source)),
          TimeText(snapshot_.StartOf(zone.begin)), JoulesText(zone.total));
      if (is_split) Put(R"(,"active_joules":{},"idle_joules":{})", JoulesText(zone.active), JoulesText(zone.idle));
      if (zone.fresh && !options_.stale) {
        Put(R"(,"watts":{})", zone.power.watts());
        if (is_split) Put(R"(,"active_watts":{},"idle_watts":{})", zone.active_power.watts(), zone.idle_power.watts());
      }
      End();
    }
  }

  template <class Identity, class Describe>
  void Workloads(Level level, const snapshot::Table<Identity>& table, const Describe& describe) {
    if (!Wants(level)) return;
    for (size_t row = 0; row < table.rows(); ++row) {
      Begin(snapshot::ToString(level));
      describe(*table.identity[row]);
      const bool runs = table.state[row] == snapshot::State::kRunning;
      Put(R"(,"state":"{}","start":"{}","cpu_seconds":{})", snapshot::ToString(table.state[row]),
          TimeText(snapshot_.StartOf(table.begin_of(row))), ToSeconds(table.cpu[row]));
      Energies(std::span(table.energy).subspan(row * table.zones, table.zones));
      if (runs && !options_.stale)
        Values("watts", table.zones, status::Domain::kCpu, [&](size_t z) { return table.watts_at(row, z); });
      End();
    }
  }

  template <class Identity, class Describe>
  void RollUps(Level level, const snapshot::RollUpTable<Identity>& roll_up, const Describe& describe) {
    if (!Wants(level)) return;
    for (size_t row = 0; row < roll_up.rows(); ++row) {
      Begin(snapshot::ToString(level));
      describe(*roll_up.identity[row]);
      Put(R"(,"start":"{}")", TimeText(snapshot_.StartOf(roll_up.begin[row])));
      Energies(std::span(roll_up.energy).subspan(row * roll_up.zones, roll_up.zones));
      End();
    }
  }

  /// Energy without a workload: of nobody, and of each level by the reason.
  void Rest() {
    Begin("unattributed");
    Energies(snapshot_.unattributed);
    End();
    for (const Level level : snapshot::kAllLevels) {
      if (!Wants(level)) continue;
      const auto index = static_cast<size_t>(level);
      for (const snapshot::Unlisted reason : snapshot::kAllUnlisted)
        Unlisted(level, snapshot::ToString(reason), snapshot_.unlisted[index][static_cast<size_t>(reason)]);
      Unlisted(level, "unnamed", snapshot_.unnamed[index]);
    }
  }

  void Text(std::string_view key, std::string_view text) {
    if (!text.empty()) Put(R"(,"{}":{})", key, QuoteJson(text));
  }
  template <class... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] uint64_t lines() const { return lines_; }

 private:
  [[nodiscard]] bool Wants(Level level) const { return (options_.levels & kSelected[static_cast<size_t>(level)]) != 0; }
  /// Active energy by zone, and idle energy where workloads share it.
  void Energies(std::span<const Energy> energies) {
    Values("joules", energies.size(), status::Domain::kCpu, [&](size_t z) { return JoulesText(energies[z]); });
    Values("idle_joules", energies.size(), status::Domain::kIdleCpu, [&](size_t z) { return JoulesText(energies[z]); });
  }
  /// An object with the values of the zones of a domain; nothing if there are none.
  template <class Value>
  void Values(std::string_view key, size_t zones, status::Domain domain, const Value& value) {
    bool is_first = true;
    for (size_t z = 0; z < zones; ++z) {
      if (snapshot_.zones[z].domain != domain) continue;
      if (is_first)
        Put(R"(,"{}":{{{}:{})", key, zones_[z], value(z));
      else
        Put(",{}:{}", zones_[z], value(z));
      is_first = false;
    }
    if (!is_first) out_ += '}';
  }
  void Unlisted(Level level, std::string_view reason, std::span<const Energy> energies) {
    Begin("unlisted");
    Put(R"(,"of":"{}","reason":"{}")", snapshot::ToString(level), reason);
    Energies(energies);
    End();
  }
  void Begin(std::string_view level) {
    out_ += head_;
    Put(R"(,"level":"{}")", level);
  }
  void End() {
    out_ += "}\n";
    ++lines_;
  }

  const snapshot::Snapshot& snapshot_;
  const LineOptions& options_;
  const std::string head_;
  std::vector<std::string> zones_;  // quoted names
  std::string& out_;
  uint64_t lines_ = 0;
};

}  // namespace

uint64_t AppendLines(const snapshot::Snapshot& snapshot, const LineOptions& options, std::string& out) {
  Writer writer(snapshot, options, out);
  writer.Node();
  writer.Workloads(Level::kProcess, snapshot.processes, [&](const snapshot::ProcessIdentity& process) {
    writer.Put(R"(,"pid":{})", process.pid);
    writer.Text("comm", process.comm);
    writer.Text("exe", process.exe);
    writer.Text("container_id", process.container_id);
    writer.Text("vm_id", process.vm_id);
  });
  writer.Workloads(Level::kContainer, snapshot.containers, [&](const snapshot::ContainerIdentity& container) {
    writer.Text("container_id", container.id);
    writer.Text("container_name", container.name);
    writer.Text("runtime", container.runtime);
    writer.Text("pod_id", container.pod_id);
  });
  writer.Workloads(Level::kVm, snapshot.vms, [&](const snapshot::VmIdentity& vm) {
    writer.Text("vm_id", vm.id);
    writer.Text("vm_name", vm.name);
    writer.Text("hypervisor", vm.hypervisor);
    writer.Text("instance_name", vm.metadata.instance_name);
    writer.Text("project_id", vm.metadata.project_id);
    writer.Text("project_name", vm.metadata.project_name);
    writer.Text("user_name", vm.metadata.user_name);
    writer.Text("flavor", vm.metadata.flavor);
  });
  writer.Workloads(Level::kPod, snapshot.pods, [&](const snapshot::PodIdentity& pod) {
    writer.Text("pod_id", pod.id);
    writer.Text("pod_name", pod.name);
    writer.Text("pod_namespace", pod.name_space);
    if (pod.labels)
      for (const auto& [name, value] : *pod.labels) writer.Text(name, value);
  });
  writer.RollUps(Level::kNamespace, snapshot.namespaces, [&](const snapshot::OwnerIdentity& owner) {
    writer.Put(R"(,"namespace":{})", QuoteJson(owner.name_space));
  });
  writer.RollUps(Level::kOwner, snapshot.owners, [&](const snapshot::OwnerIdentity& owner) {
    writer.Put(R"(,"namespace":{},"owner_kind":{},"owner_name":{})", QuoteJson(owner.name_space), QuoteJson(owner.kind),
               QuoteJson(owner.name));
  });
  writer.RollUps(Level::kUser, snapshot.users, [&](const snapshot::UserIdentity& user) {
    writer.Put(R"(,"uid":{})", user.uid);
    writer.Text("user", user.name);
  });
  writer.Rest();
  return writer.lines();
}

}  // namespace kepler::json_lines
