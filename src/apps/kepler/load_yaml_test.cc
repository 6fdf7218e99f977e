
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "apps/kepler/config_test_util.h"

namespace kepler::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Loaded {
  Config config;
  std::vector<std::string> errors;
  std::vector<std::string> unknown;
};

Loaded Load(const std::string& yaml) {
  const auto draft = ConfigDraft::Of(yaml);
  return {draft->config, draft->errors(), draft->unknown()};
}

Config LoadFine(const std::string& yaml) {
  const Loaded loaded = Load(yaml);
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.unknown, IsEmpty());
  return loaded.config;
}

std::string LoadError(const std::string& yaml) {
  const Loaded loaded = Load(yaml);
  EXPECT_EQ(loaded.errors.size(), 1U) << yaml;
  return loaded.errors.empty() ? "" : loaded.errors.front();
}

TEST(LoadYaml, EveryKey_ReachesItsMember) {
  const Config c = LoadFine(R"(
log: {level: debug, format: json}
host: {sysfs: /a, procfs: /b}
monitor: {interval: 3s, staleness: 1s, maxTerminated: -1, minTerminatedEnergyThreshold: 7, terminatedRetention: 3m}
cpu: {preferredMeters: [fake]}
rapl: {zones: [core], perf: {force: true}, msr: {enabled: true, force: true, devicePath: /host/dev/cpu}}
meter: {require: true}
platform: {dcmi: {devicePath: /dev/ipmi1, interval: 30s}}
model: {platform: false, guestIdle: true}
activity: {source: procfs, counters: hardware}
attribution: {weights: counters, ratio: exact, split: baseline, idle: by-use}
exporter:
  stdout: {enabled: true, top: 4}
  prometheus: {enabled: false, debugCollectors: [process], metricsLevel: [node, vm], createdLines: true, exactTotals: true,
               names: v07, labelNames: kubernetes}
web: {configFile: /w, listenAddresses: ["[::1]:1"]}
debug: {pprof: {enabled: true}}
kube: {enabled: true, config: /k, nodeName: n, podInformer: {mode: apiserver, pollInterval: 1m}}
dev: {software-events: true, fake-cpu-meter: {enabled: true, zones: [dram]}}
experimental:
  platform: {redfish: {enabled: true, nodeName: r, configFile: /r, httpTimeout: 9s, interval: 30s}}
  hwmon: {forceEnabled: true, zones: [z], chips: [c], chipRules: [{name: x}]}
  gpu: {enabled: true, idlePower: 12.5, dcgmEndpoint: "http://d"}
)");
  EXPECT_EQ(c.log_level, log::Level::kDebug);
  EXPECT_EQ(c.log_format, log::Format::kJson);
  EXPECT_EQ(c.host.sysfs, "/a");
  EXPECT_EQ(c.host.procfs, "/b");
  EXPECT_EQ(c.freshness.interval, seconds(3));
  EXPECT_EQ(c.freshness.staleness, seconds(1));
  EXPECT_EQ(c.max_terminated, -1);
  EXPECT_EQ(c.min_terminated_joules, 7);
  EXPECT_EQ(c.terminated_retention, minutes(3));
  EXPECT_THAT(c.preferred_meters, ElementsAre(Meter::kFake));
  EXPECT_THAT(c.rapl.zones, ElementsAre("core"));
  EXPECT_TRUE(c.rapl.perf_force && c.rapl.msr_enabled && c.rapl.msr_force);
  EXPECT_EQ(c.rapl.msr_device_path, "/host/dev/cpu");
  EXPECT_TRUE(c.require_meter);
  EXPECT_EQ(c.dcmi.device_path, "/dev/ipmi1");
  EXPECT_EQ(c.dcmi.interval, seconds(30));
  EXPECT_FALSE(c.model_platform);
  EXPECT_TRUE(c.model_guest_idle);
  EXPECT_EQ(c.activity_source, ActivityChoice::kProcfs);
  EXPECT_EQ(c.counters, Counters::kHardware);
  EXPECT_EQ(c.split.weights, pipeline::CpuWeights::kCounters);
  EXPECT_EQ(c.split.ratio, snapshot::RatioMethod::kExact);
  EXPECT_EQ(c.split.idle, pipeline::IdlePolicy::kBaseline);
  EXPECT_EQ(c.split.idle_payers, snapshot::IdlePayers::kByUse);
  EXPECT_TRUE(c.stdout_enabled);
  EXPECT_EQ(c.stdout_top, 4);
  EXPECT_FALSE(c.prometheus_enabled);
  EXPECT_TRUE(c.created_lines);
  EXPECT_TRUE(c.exact_totals);
  EXPECT_EQ(c.names, series::NameSet::kV07);
  EXPECT_EQ(c.labels, series::LabelSet::kKubernetes);
  EXPECT_THAT(c.debug_collectors, ElementsAre(DebugCollector::kProcess));
  EXPECT_EQ(c.metrics_level, Levels({MetricsLevel::kNode, MetricsLevel::kVm}));
  EXPECT_EQ(c.web_config_file, "/w");
  EXPECT_THAT(c.listen_addresses, ElementsAre("[::1]:1"));
  EXPECT_TRUE(c.pprof_enabled);
  EXPECT_TRUE(c.kube_enabled);
  EXPECT_EQ(c.kube_config, "/k");
  EXPECT_EQ(c.node_name, "n");
  EXPECT_EQ(c.informer_mode, InformerMode::kApiserver);
  EXPECT_EQ(c.informer_poll_interval, minutes(1));
  EXPECT_TRUE(c.software_events);
  EXPECT_TRUE(c.fake_meter);
  EXPECT_THAT(c.fake_zones, ElementsAre("dram"));
  EXPECT_TRUE(c.redfish_enabled);
  EXPECT_EQ(c.redfish_node_name, "r");
  EXPECT_EQ(c.redfish_config_file, "/r");
  EXPECT_EQ(c.redfish_http_timeout, seconds(9));
  EXPECT_EQ(c.redfish_interval, seconds(30));
  EXPECT_TRUE(c.force_hwmon);
  EXPECT_THAT(c.hwmon.zones, ElementsAre("z"));
  EXPECT_THAT(c.hwmon.chips, ElementsAre("c"));
  ASSERT_EQ(c.hwmon.chip_rules.size(), 1U);
  EXPECT_TRUE(c.gpu_enabled);
  EXPECT_EQ(c.gpu_idle_power, 12.5);
  EXPECT_EQ(c.gpu_dcgm_endpoint, "http://d");
}

TEST(LoadYaml, ChipRule_EveryMember) {
  const Config c = LoadFine(R"(
experimental:
  hwmon:
    chipRules:
      - name: " nct6775 "
        pairings: {1: 2, 3: 4}
        skipVoltages: [5]
        skipCurrents: [6, 7]
        useSameIndex: yes
)");
  const energy::hwmon::ChipRule& rule = c.hwmon.chip_rules.at(0);
  EXPECT_EQ(rule.name, "nct6775");
  EXPECT_THAT(rule.pairings, ElementsAre(std::pair(1, 2), std::pair(3, 4)));
  EXPECT_THAT(rule.skip_voltages, ElementsAre(5));
  EXPECT_THAT(rule.skip_currents, ElementsAre(6, 7));
  EXPECT_TRUE(rule.use_same_index);
}

TEST(LoadYaml, BadChipRules_AreRejectedWithTheirPlace) {
  const auto error = [](const std::string& rule) {
    return LoadError("experimental:\n  hwmon:\n    chipRules:\n    - " + rule + "\n");
  };
  EXPECT_EQ(error("{pairings: {}}"), "k.yaml:4: experimental.hwmon.chipRules[0].name: is required");
  EXPECT_EQ(error("text"), "k.yaml:4: experimental.hwmon.chipRules[0]: must be a mapping of keys to values");
  EXPECT_THAT(error("{name: x, pairings: [1]}"), HasSubstr("chipRules[0].pairings: must be a mapping"));
  EXPECT_THAT(error("{name: x, pairings: {a: 1}}"), HasSubstr("chipRules[0].pairings: \"a\" is not a whole number"));
  EXPECT_THAT(error("{name: x, pairings: {1: [2]}}"), HasSubstr("chipRules[0].pairings: must be a whole number"));
  EXPECT_THAT(error("{name: x, pairings: {2000: 1}}"), HasSubstr("chipRules[0].pairings: 2000 is more than 1024"));
  EXPECT_THAT(error("{name: x, skipVoltages: [-1]}"), HasSubstr("chipRules[0].skipVoltages: -1 is less than 0"));
  EXPECT_THAT(error("{name: x, pairings: {1: 2, 01: 3}}"), HasSubstr("chipRules[0].pairings: \"01\" is given twice"));
  EXPECT_THAT(error("{name: x, pairings: {1.5: 2}}"), HasSubstr("chipRules[0].pairings: must be a whole number"));
  EXPECT_THAT(error("{name: x, skipVoltages: 5}"), HasSubstr("skipVoltages: must be a list of whole numbers"));
  EXPECT_THAT(error("{name: x, skipCurrents: 3}"), HasSubstr("chipRules[0].skipCurrents: must be a list"));
  EXPECT_THAT(error("{name: x, skipCurrents: [9999]}"), HasSubstr("9999 is more than 1024"));
  EXPECT_THAT(error("{name: x, useSameIndex: maybe}"),
              HasSubstr("chipRules[0].useSameIndex: \"maybe\" is neither true nor false"));
  EXPECT_THAT(error("{name: ''}"), HasSubstr("chipRules[0].name: is required"));
  EXPECT_THAT(error("{name: }"), HasSubstr("chipRules[0].name: is required"));
  EXPECT_THAT(error("{name: [x]}\n    - {name: y}"), HasSubstr("chipRules[0].name: must be a text"));
}

TEST(LoadYaml, UnknownKeyOfAChipRule_IsReportedWithTheNearest) {
  const Loaded loaded = Load("experimental:\n  hwmon:\n    chipRules:\n    - {name: x, skipVoltage: [1]}\n");
  EXPECT_THAT(loaded.unknown, ElementsAre("k.yaml:4: experimental.hwmon.chipRules[0].skipVoltage: unknown key; did you "
                                          "mean experimental.hwmon.chipRules[0].skipVoltages?"));
}

TEST(LoadYaml, ChipRulesThatAreNoList_AreRejected) {
  EXPECT_EQ(LoadError("experimental: {hwmon: {chipRules: x}}\n"),
            "k.yaml:1: experimental.hwmon.chipRules: must be a list of mappings");
}

TEST(LoadYaml, UnknownKeys_AreReportedWithPathLineAndNearest) {
  const Loaded loaded = Load(R"(monitor:
  intervall: 5s
cpu:
  meters: [rapl]
staleness: 3s
monitor.interval: 5s
exporter:
  prometheus:
    somethingElse: {a: 1}
)");
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.unknown, ElementsAre("k.yaml:2: monitor.intervall: unknown key; did you mean monitor.interval?",
                                          "k.yaml:4: cpu.meters: unknown key; did you mean cpu.preferredMeters?",
                                          "k.yaml:5: staleness: unknown key; did you mean monitor.staleness?",
                                          "k.yaml:6: monitor.interval: unknown key; write nested keys, not dots",
                                          "k.yaml:9: exporter.prometheus.somethingElse: unknown key"));
  EXPECT_EQ(loaded.config.freshness.interval, seconds(5));
}

TEST(LoadYaml, WrongTypes_AreRejectedWithPathAndLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"log: debug\n", "k.yaml:1: log: must be a mapping of keys to values"},
      {"log:\n  level: [debug]\n", "k.yaml:2: log.level: must be a text"},
      {"monitor:\n  interval: {a: 1}\n", "k.yaml:2: monitor.interval: must be a duration"},
      {"monitor:\n  interval: 5\n", "k.yaml:2: monitor.interval: \"5\" is not a duration: the unit is missing"},
      {"monitor:\n  interval: 5w\n", R"(k.yaml:2: monitor.interval: "5w" is not a duration: unknown unit "w")"},
      {"monitor:\n  maxTerminated: many\n", "k.yaml:2: monitor.maxTerminated: \"many\" is not a whole number"},
      {"monitor:\n  maxTerminated: \"5\"\n", "k.yaml:2: monitor.maxTerminated: must be a whole number, without quotes"},
      {"monitor:\n  maxTerminated: 99999999999999999999\n", "does not fit in 64 bits"},
      {"monitor:\n  minTerminatedEnergyThreshold: little\n", "\"little\" is not a whole number of joules"},
      {"kube:\n  enabled: maybe\n", "k.yaml:2: kube.enabled: \"maybe\" is neither true nor false"},
      {"kube:\n  enabled: \"true\"\n", "k.yaml:2: kube.enabled: must be a boolean, without quotes"},
      {"kube:\n  enabled: 1\n", "k.yaml:2: kube.enabled: \"1\" is neither true nor false"},
      {"rapl:\n  zones: core\n", "k.yaml:2: rapl.zones: must be a list, for example [a, b]"},
      {"rapl:\n  zones:\n  - a\n  - [b]\n", "k.yaml:4: rapl.zones: must be a list of texts"},
      {"rapl:\n  zones: [~]\n", "k.yaml:2: rapl.zones: must be a list of texts"},
      {"experimental: {gpu: {idlePower: much}}\n", "experimental.gpu.idlePower: \"much\" is not a number"},
      {"experimental: {gpu: {idlePower: nan}}\n", "experimental.gpu.idlePower: \"nan\" is not a number"},
      {"- log\n", "k.yaml:1: the file must contain a mapping of keys to values"},
      {"just text\n", "k.yaml:1: the file must contain a mapping of keys to values"},
      {"log:\n  level: info\n  level: info\n", "k.yaml:3: key level is given twice, first in line 2"},
  };
  for (const auto& [yaml, expected] : cases) EXPECT_THAT(LoadError(yaml), HasSubstr(expected)) << yaml;
}

TEST(LoadYaml, SeveralMistakes_AreAllReported) {
  EXPECT_EQ(Load("monitor: {interval: 5, staleness: x}\nkube: {enabled: perhaps}\n").errors.size(), 3U);
}

TEST(LoadYaml, Durations_InEverySpelling) {
  EXPECT_EQ(LoadFine("monitor: {interval: 0}\n").freshness.interval, Duration{0});
  EXPECT_EQ(LoadFine("monitor: {interval: \"0\"}\n").freshness.interval, Duration{0});
  EXPECT_EQ(LoadFine("monitor: {interval: 1h30m}\n").freshness.interval, minutes(90));
  EXPECT_EQ(LoadFine("monitor: {interval: 1.5s}\n").freshness.interval, milliseconds(1500));
}

TEST(LoadYaml, Booleans_AsYaml11) {
  for (const char* word : {"true", "True", "TRUE", "yes", "Yes", "on", "ON"})
    EXPECT_TRUE(LoadFine(std::string("kube: {enabled: ") + word + "}\n").kube_enabled) << word;
  for (const char* word : {"false", "no", "off", "OFF"})
    EXPECT_FALSE(LoadFine(std::string("exporter: {prometheus: {enabled: ") + word + "}}\n").prometheus_enabled) << word;
}

TEST(LoadYaml, NullValues_KeepSingleValuesAndEmptyLists) {
  const Config c = LoadFine(R"(log:
host: {sysfs: }
monitor: {interval: , maxTerminated: ~}
exporter: {stdout: {enabled: }, prometheus: {enabled: null, debugCollectors: , metricsLevel: }}
web: {listenAddresses: }
cpu: {preferredMeters: }
experimental: {hwmon: {chipRules: }, gpu: {idlePower: }}
)");
  EXPECT_EQ(c.host.sysfs, "/sys");
  EXPECT_EQ(c.freshness.interval, seconds(5));
  EXPECT_EQ(c.max_terminated, 500);
  EXPECT_FALSE(c.stdout_enabled);
  EXPECT_TRUE(c.prometheus_enabled);
  EXPECT_THAT(c.debug_collectors, IsEmpty());
  EXPECT_EQ(c.metrics_level, kUpstreamLevels);
  EXPECT_THAT(c.listen_addresses, IsEmpty());
  EXPECT_THAT(c.preferred_meters, IsEmpty());
}

TEST(LoadYaml, TextsThatLookLikeNumbers_StayTexts) {
  const Config c = LoadFine("kube: {nodeName: 0123}\nrapl: {zones: [1, yes]}\n");
  EXPECT_EQ(c.node_name, "0123");
  EXPECT_THAT(c.rapl.zones, ElementsAre("1", "yes"));
}

TEST(LoadYaml, MetricsLevel_TextListOrCommas) {
  const auto level = [](const std::string& value) {
    return LoadFine("exporter: {prometheus: {metricsLevel: " + value + "}}\n").metrics_level;
  };
  EXPECT_EQ(level("node"), Levels({MetricsLevel::kNode}));
  EXPECT_EQ(level("[Node, ' POD ']"), Levels({MetricsLevel::kNode, MetricsLevel::kPod}));
  EXPECT_EQ(level("\"node, container\""), Levels({MetricsLevel::kNode, MetricsLevel::kContainer}));
  EXPECT_EQ(level("[pod, namespace, owner]"),
            Levels({MetricsLevel::kPod, MetricsLevel::kNamespace, MetricsLevel::kOwner}));
  EXPECT_EQ(level("all").bits, (1U << 8) - 1);
  EXPECT_EQ(level("[]"), kUpstreamLevels);
}

TEST(LoadYaml, BadMetricsLevel_NamesTheChoices) {
  const auto error = [](const std::string& value) {
    return LoadError("exporter:\n  prometheus:\n    metricsLevel: " + value + "\n");
  };
  EXPECT_EQ(error("[node, pods]"),
            "k.yaml:3: exporter.prometheus.metricsLevel: \"pods\" is not one of node, process, container, vm, pod, "
            "namespace, "
            "owner, user, all; did you mean pod?");
  EXPECT_THAT(error("\"\""), HasSubstr("\"\" is not one of node"));
  EXPECT_THAT(error("{}"), HasSubstr("metricsLevel: must be a list, for example [a, b]"));
  EXPECT_THAT(error("[[node]]"), HasSubstr("metricsLevel: must be a list of texts"));
}

TEST(LoadYaml, ExperimentalBlock_IsKeptWithNothingEnabled) {
  const Config c =
      LoadFine("cpu: {preferredMeters: [hwmon]}\nexperimental: {hwmon: {zones: [cpu], chips: [k10temp]}}\n");
  EXPECT_THAT(c.hwmon.zones, ElementsAre("cpu"));
  EXPECT_THAT(c.hwmon.chips, ElementsAre("k10temp"));
}

TEST(LoadYaml, Anchors_AreFollowed) {
  const Config c = LoadFine("rapl: {zones: &z [core]}\nexperimental: {hwmon: {zones: *z}}\n");
  EXPECT_THAT(c.hwmon.zones, ElementsAre("core"));
}

TEST(LoadYaml, TextsAndListItems_LoseTheirSpaces) {
  const Config c =
      LoadFine("log: {level: \" info\\n\"}\nkube: {nodeName: \" n \"}\nweb: {listenAddresses: [' :1 ', ':2']}\n");
  EXPECT_EQ(c.log_level, log::Level::kInfo);
  EXPECT_EQ(c.node_name, "n");
  EXPECT_THAT(c.listen_addresses, ElementsAre(":1", ":2"));
}

TEST(LoadYaml, PlacesOfModels) {
  const Config c =
      LoadFine("model:\n  sources: [/models, 'https://h/a.json?b#sha256=0']\n  refresh: 5m\n  cacheDir: ''\n");
  EXPECT_THAT(c.model_sources, ElementsAre("/models", "https://h/a.json?b#sha256=0"));
  EXPECT_EQ(c.model_refresh, minutes(5));
  EXPECT_EQ(c.model_cache_dir, "");
}

}  // namespace
}  // namespace kepler::agent
