#include "report/prometheus_series.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace kepler::report {
namespace {

using recording::LabelOf;
using recording::Labels;

struct Family {
  std::string_view metric;
  SeriesKind kind;
};
constexpr std::array kNodeFamilies = {
    Family{"kepler_node_cpu_joules_total", SeriesKind::kTotal},
    Family{"kepler_node_platform_joules_total", SeriesKind::kTotal},
    Family{"kepler_start_timestamp_seconds", SeriesKind::kStart},
    Family{"kepler_node_cpu_active_joules_total", SeriesKind::kActive},
    Family{"kepler_node_cpu_idle_joules_total", SeriesKind::kIdle},
    Family{"kepler_node_cpu_unattributed_joules_total", SeriesKind::kUnattributed},
    Family{"kepler_node_cpu_unlisted_joules_total", SeriesKind::kUnlisted},
    Family{"kepler_node_cpu_unnamed_joules", SeriesKind::kUnlisted},
};
constexpr std::array<std::string_view, 5> kNodeLabels = {"level", "node_name", "path", "reason", "zone"};

std::span<const std::string_view> WorkloadLabels(By by) {
  static constexpr std::array<std::string_view, 3> kOwner = {"namespace", "owner_kind", "owner_name"};
  static constexpr std::array<std::string_view, 3> kPod = {"pod_id", "pod_name", "pod_namespace"};
  static constexpr std::array<std::string_view, 4> kContainer = {"container_id", "container_name", "pod_id", "runtime"};
  static constexpr std::array<std::string_view, 3> kVm = {"hypervisor", "vm_id", "vm_name"};
  static constexpr std::array<std::string_view, 6> kProcess = {"comm", "container_id", "exe", "pid", "type", "vm_id"};
  static constexpr std::array<std::string_view, 2> kUser = {"uid", "user"};
  switch (by) {
    case By::kNamespace:
      return std::span(kOwner).first(1);
    case By::kOwner:
      return kOwner;
    case By::kPod:
      return kPod;
    case By::kContainer:
      return kContainer;
    case By::kVm:
    case By::kProject:
      return kVm;
    case By::kProcess:
      return kProcess;
    case By::kUser:
      return kUser;
    case By::kNode:
      break;
  }
  return {};
}

std::string WorkloadFamily(By by) { return fmt::format("kepler_{}_cpu_joules_total", LevelOf(by)); }

/// Names of machines and of their projects, which their energy does not have.
constexpr std::string_view kVmInfo = "kepler_vm_info";
constexpr std::array<std::string_view, 6> kVmInfoLabels = {"flavor",       "instance_name", "project_id",
                                                           "project_name", "user_name",     "vm_id"};
bool IsOfVms(By by) { return LevelOf(by) == LevelOf(By::kVm); }

/// The agent's label, also if the target has one of that name.
std::string_view OwnLabel(const Labels& labels, std::string_view name) {
  const std::string_view renamed = LabelOf(labels, "exported_" + std::string(name));
  return renamed.empty() ? LabelOf(labels, name) : renamed;
}

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  constexpr std::string_view kRenamed = "exported_";
  if (name.starts_with(kRenamed)) name.remove_prefix(kRenamed.size());
  return std::ranges::find(names, name) != names.end();
}

/// `text` as a regular expression that matches only this text.
std::string EscapeRegex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(R"(\.+*?()|[]{}^$)").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string SelectorOf(By by, std::span<const std::string> zones, std::span<const std::string> matchers) {
  std::vector<std::string> names;
  for (const Family& family : kNodeFamilies)
    if (by != By::kNode || family.kind == SeriesKind::kTotal || family.kind == SeriesKind::kStart)
      names.emplace_back(family.metric);
  if (by != By::kNode) names.push_back(WorkloadFamily(by));
  if (IsOfVms(by)) names.emplace_back(kVmInfo);
  std::vector<std::string> escaped = {""};  // no zone: metadata, and the start
  for (const std::string& zone : zones) escaped.push_back(EscapeRegex(zone));
  std::string out = fmt::format("{{__name__=~{},zone=~{}", QuoteJson(fmt::format("{}", fmt::join(names, "|"))),
                                QuoteJson(fmt::format("{}", fmt::join(escaped, "|"))));
  if (by != By::kNode) out += fmt::format(R"(,level=~"|{}")", LevelOf(by));
  for (const std::string& matcher : matchers) out += "," + matcher;
  return out + "}";
}

std::optional<EnergySeries> EnergySeriesOf(By by, std::string_view metric, const Labels& labels) {
  EnergySeries series{.kind = SeriesKind::kWorkload,
                      .node = std::string(OwnLabel(labels, "node_name")),
                      .zone = std::string(OwnLabel(labels, "zone")),
                      .reason = {},
                      .is_ended = LabelOf(labels, "state") == "terminated",
                      .texts = {}};
  const auto* const family = std::ranges::find(kNodeFamilies, metric, &Family::metric);
  if (family != kNodeFamilies.end()) {
    series.kind = family->kind;
    series.reason = metric.contains("unnamed") ? "unnamed" : OwnLabel(labels, "reason");
    const bool is_of_level = family->kind != SeriesKind::kUnlisted || OwnLabel(labels, "level") == LevelOf(by);
    return is_of_level ? std::optional(std::move(series)) : std::nullopt;
  }
  std::span<const std::string_view> names = WorkloadLabels(by);
  if (IsOfVms(by) && metric == kVmInfo) {
    series.kind = SeriesKind::kVmInfo;
    names = kVmInfoLabels;
  } else if (by == By::kNode || metric != WorkloadFamily(by)) {
    return std::nullopt;
  }
  for (const std::string_view name : names)
    if (const std::string_view value = OwnLabel(labels, name); !value.empty()) series.texts.emplace_back(name, value);
  return series;
}

void AddPodNames(const Labels& labels, const Labels& target, EnergySeries& series) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNames = {
      {{"pod_name", "pod"}, {"pod_namespace", "namespace"}}};
  const bool has_name = std::ranges::any_of(series.texts, [](const auto& text) { return text.first == "pod_name"; });
  const bool is_targets = LabelOf(labels, "exported_pod").empty() && LabelOf(labels, "pod") == LabelOf(target, "pod");
  if (has_name || is_targets) return;
  for (const auto& [text, label] : kNames) series.texts.emplace_back(text, OwnLabel(labels, label));
}

Labels TargetOf(const Labels& labels) {
  Labels target;
  for (const auto& label : labels)
    if (!IsOneOf(label.first, kNodeLabels)) target.push_back(label);
  return target;
}

bool IsOfTarget(By by, const Labels& labels, const Labels& target) {
  return std::ranges::all_of(target, [&](const auto& label) {
    return IsOneOf(label.first, WorkloadLabels(by)) || LabelOf(labels, label.first) == label.second;
  });
}

}  // namespace kepler::report
