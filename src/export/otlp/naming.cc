#include "export/otlp/naming.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kepler::otlp {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr auto kNames = std::to_array<Pair>({
    {"kepler_container_cpu_seconds_total", "container.cpu.time"},
    {"kepler_node_cpu_joules_total", "hw.energy"},
    {"kepler_node_cpu_watts", "hw.power"},
    {"kepler_node_platform_joules_total", "hw.host.energy"},
    {"kepler_node_platform_watts", "hw.host.power"},
    {"kepler_process_cpu_seconds_total", "process.cpu.time"},
});
constexpr auto kAttributes = std::to_array<Pair>({
    {"comm", "process.executable.name"},
    {"container_id", "container.id"},
    {"container_name", "container.name"},
    {"exe", "process.executable.path"},
    {"namespace", "k8s.namespace.name"},
    {"node_name", ""},
    {"pid", "process.pid"},
    {"pod_id", "k8s.pod.uid"},
    {"pod_name", "k8s.pod.name"},
    {"pod_namespace", "k8s.namespace.name"},
    {"runtime", "container.runtime.name"},
});
constexpr auto kUnits =
    std::to_array<Pair>({{"bytes", "By"}, {"joules", "J"}, {"ratio", "1"}, {"seconds", "s"}, {"watts", "W"}});

/// Returns the partner of `key`, else `otherwise`.
std::string_view Find(const auto& table, std::string_view key, std::string_view otherwise) {
  const auto found = std::ranges::find(table, key, &Pair::first);
  return found == table.end() ? otherwise : found->second;
}

}  // namespace

Naming NamingOf(const series::Family& family) {
  if (series::IsAboutPage(family)) return {};
  const std::string_view name = Find(kNames, family.name, BaseName(family));
  return {name, Find(kUnits, family.unit, ""), name.starts_with("hw.")};
}

std::string_view AttributeOf(std::string_view label) { return Find(kAttributes, label, label); }

std::string_view HardwareTypeOf(std::string_view zone) { return zone == "dram" ? "memory" : "cpu"; }

}  // namespace kepler::otlp
