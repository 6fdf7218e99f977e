#include "lab/dataset/metrics.h"

#include <algorithm>

#include "model/features.h"

namespace kepler::lab::dataset {
namespace {

using std::string_view;

constexpr FeatureMetric kFeatures[] = {
    {"bpf_cpu_time_ms", "kepler_node_cpu_seconds_total"},
    {"cpu_cycles", "kepler_node_cpu_cycles_total"},
    {"cpu_instructions", "kepler_node_cpu_instructions_total"},
    {"cache_miss", "kepler_node_cache_miss_total"},
    {"bpf_net_rx_irq", "kepler_node_softirqs_total"},
    {"bpf_net_tx_irq", "kepler_node_softirqs_total"},
    {"bpf_block_irq", "kepler_node_softirqs_total"},
    {"cpu_steal_ms", "kepler_node_cpu_steal_seconds_total"},
    {"context_switches", "kepler_node_context_switches_total"},
    {"page_faults", "kepler_node_page_faults_total"},
    {"memory_used_bytes", "kepler_node_memory_used_bytes"},
    {"cores", "kepler_node_cpus"},
};
constexpr string_view kSoftirqs = "kepler_node_softirqs_total";
constexpr string_view kNodeEnergy = "kepler_node_cpu_joules_total";
constexpr string_view kPlatformEnergy = "kepler_node_platform_joules_total";

constexpr string_view kLegacyComponents[] = {"package", "core", "uncore", "dram", "platform"};
constexpr string_view kLegacyEstimate = "trained_power_model";

/// Returns the text between the prefix and the suffix, or nothing.
std::optional<string_view> Between(string_view text, string_view begin, string_view end) {
  if (text.size() <= begin.size() + end.size() || !text.starts_with(begin) || !text.ends_with(end)) return std::nullopt;
  return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

/// Features of Kepler up to 0.10 that are counted by container.
bool IsFeature(string_view name) {
  const string_view today = model::CanonicalFeature(name);
  return std::ranges::any_of(model::FeatureGroups(), [&](const model::FeatureGroup& group) {
    return group.name == "WorkloadOnly" && std::ranges::find(group.features, today) != group.features.end();
  });
}

std::optional<string_view> LegacyFeature(string_view metric) {
  const auto name = Between(metric, "kepler_container_", "_total");
  return name && IsFeature(*name) ? name : std::nullopt;
}

std::optional<string_view> LegacyComponent(string_view metric) {
  const auto name = Between(metric, "kepler_node_", "_joules_total");
  return name && std::ranges::find(kLegacyComponents, *name) != std::end(kLegacyComponents) ? name : std::nullopt;
}

std::optional<Meaning> MeaningOfOurs(string_view metric, const Labels& labels) {
  if (metric == kNodeEnergy || metric == kPlatformEnergy) {
    const string_view zone = metric == kPlatformEnergy ? "platform" : LabelOf(labels, "zone");
    if (zone.empty()) return std::nullopt;
    return Meaning{.column = std::string(zone) + "_power",
                   .is_energy = true,
                   .may_rest = zone.ends_with("_idle"),
                   .is_estimate = LabelOf(labels, "path") == kEstimatedPath};
  }
  if (metric == kSoftirqs) {
    const string_view type = LabelOf(labels, "type");
    if (type != "net_rx" && type != "net_tx" && type != "block") return std::nullopt;
    return Meaning{.column = "bpf_" + std::string(type) + "_irq"};
  }
  const auto* const found = std::ranges::find(kFeatures, metric, &FeatureMetric::metric);
  if (found == std::end(kFeatures)) return std::nullopt;
  constexpr double kMillisecondsPerSecond = 1000;
  return Meaning{.column = std::string(found->column),
                 .scale = found->column.ends_with("_ms") ? kMillisecondsPerSecond : 1,
                 .is_gauge = found->column == "memory_used_bytes" || found->column == "cores"};
}

std::optional<Meaning> MeaningOfLegacy(string_view metric, const Labels& labels) {
  if (const auto component = LegacyComponent(metric)) {
    const string_view source = LabelOf(labels, "source");
    return Meaning{.column = std::string(*component) + "_power",
                   .is_energy = true,
                   .is_estimate = source == kLegacyEstimate,
                   .source = std::string(source)};
  }
  if (const auto feature = LegacyFeature(metric))
    return Meaning{.column = std::string(model::CanonicalFeature(*feature)), .comes_and_goes = true};
  return std::nullopt;
}

bool IsOurs(string_view metric) {
  return metric == kNodeEnergy || metric == kPlatformEnergy || metric == kSnapshotTime || metric == kEnergySource ||
         std::ranges::find(kFeatures, metric, &FeatureMetric::metric) != std::end(kFeatures);
}
bool IsLegacy(string_view metric) { return LegacyFeature(metric) || LegacyComponent(metric); }

}  // namespace

bool IsWanted(MetricNames names, string_view metric) {
  return (names != MetricNames::kLegacy && IsOurs(metric)) || (names != MetricNames::kKepler && IsLegacy(metric));
}

std::optional<Meaning> MeaningOf(MetricNames names, string_view metric, const Labels& labels) {
  return names == MetricNames::kLegacy ? MeaningOfLegacy(metric, labels) : MeaningOfOurs(metric, labels);
}

MetricNames Detect(const std::function<bool(string_view)>& has) {
  if (has(kNodeEnergy) || std::ranges::any_of(kFeatures, [&](const auto& feature) { return has(feature.metric); }))
    return MetricNames::kKepler;
  // The platform's energy has one name in both.
  for (const string_view component : kLegacyComponents)
    if (component != "platform" && has("kepler_node_" + std::string(component) + "_joules_total"))
      return MetricNames::kLegacy;
  for (const model::FeatureGroup& group : model::FeatureGroups())
    for (const string_view feature : group.features)
      if (has("kepler_container_" + std::string(feature) + "_total")) return MetricNames::kLegacy;
  return has("kepler_container_bpf_cpu_time_us_total") ? MetricNames::kLegacy : MetricNames::kAuto;
}

std::span<const string_view> EnergyMetrics() {
  static constexpr string_view kEnergies[] = {kNodeEnergy, kPlatformEnergy};
  return kEnergies;
}

std::span<const FeatureMetric> FeatureMetrics() {
  constexpr size_t kOfEveryVersion = 7;
  return std::span(kFeatures).first(kOfEveryVersion);
}

}  // namespace kepler::lab::dataset
