#include "config/load_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "config/config_test_util.h"

namespace kepler::config {
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
  Draft draft("k.yaml");
  LoadYaml(draft, yaml);
  return {draft.config, draft.errors(), draft.unknown()};
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
rapl: {zones: [core]}
meter: {require: true}
activity: {source: procfs, counters: software}
attribution: {weights: counters, ratio: exact}
exporter:
  stdout: {enabled: true, top: 4}
  prometheus: {enabled: false, debugCollectors: [process], metricsLevel: [node, vm]}
web: {configFile: /w, listenAddresses: ["[::1]:1"]}
debug: {pprof: {enabled: true}}
kube: {enabled: true, config: /k, nodeName: n, podInformer: {mode: apiserver, pollInterval: 1m}}
dev: {fake-cpu-meter: {enabled: true, zones: [dram]}}
experimental:
  platform: {redfish: {enabled: true, nodeName: r, configFile: /r, httpTimeout: 9s}}
  hwmon: {forceEnabled: true, zones: [z], chips: [c], chipRules: [{name: x}]}
  gpu: {enabled: true, idlePower: 12.5, dcgmEndpoint: "http://d"}
)");
  EXPECT_EQ(c.log.level, "debug");
  EXPECT_EQ(c.log.format, "json");
  EXPECT_EQ(c.host.sysfs, "/a");
  EXPECT_EQ(c.host.procfs, "/b");
  EXPECT_EQ(c.monitor.interval, seconds(3));
  EXPECT_EQ(c.monitor.staleness, seconds(1));
  EXPECT_EQ(c.monitor.max_terminated, -1);
  EXPECT_EQ(c.monitor.min_terminated_energy_threshold, 7);
  EXPECT_EQ(c.monitor.terminated_retention, minutes(3));
  EXPECT_THAT(c.cpu.preferred_meters, ElementsAre("fake"));
  EXPECT_THAT(c.rapl.zones, ElementsAre("core"));
  EXPECT_TRUE(c.meter.require);
  EXPECT_EQ(c.activity.source, "procfs");
  EXPECT_EQ(c.activity.counters, "software");
  EXPECT_EQ(c.attribution.weights, "counters");
  EXPECT_EQ(c.attribution.ratio, "exact");
  EXPECT_TRUE(c.exporter.stdout_exporter.enabled);
  EXPECT_EQ(c.exporter.stdout_exporter.top, 4);
  EXPECT_FALSE(c.exporter.prometheus.enabled);
  EXPECT_THAT(c.exporter.prometheus.debug_collectors, ElementsAre("process"));
  EXPECT_EQ(c.exporter.prometheus.metrics_level, kLevelNode | kLevelVm);
  EXPECT_EQ(c.web.config_file, "/w");
  EXPECT_THAT(c.web.listen_addresses, ElementsAre("[::1]:1"));
  EXPECT_TRUE(c.debug.pprof_enabled);
  EXPECT_TRUE(c.kube.enabled);
  EXPECT_EQ(c.kube.config, "/k");
  EXPECT_EQ(c.kube.node_name, "n");
  EXPECT_EQ(c.kube.pod_informer.mode, "apiserver");
  EXPECT_EQ(c.kube.pod_informer.poll_interval, minutes(1));
  EXPECT_TRUE(c.fake_cpu_meter.enabled);
  EXPECT_THAT(c.fake_cpu_meter.zones, ElementsAre("dram"));
  EXPECT_TRUE(c.experimental.redfish.enabled);
  EXPECT_EQ(c.experimental.redfish.node_name, "r");
  EXPECT_EQ(c.experimental.redfish.config_file, "/r");
  EXPECT_EQ(c.experimental.redfish.http_timeout, seconds(9));
  EXPECT_TRUE(c.experimental.hwmon.force_enabled);
  EXPECT_THAT(c.experimental.hwmon.zones, ElementsAre("z"));
  EXPECT_THAT(c.experimental.hwmon.chips, ElementsAre("c"));
  ASSERT_EQ(c.experimental.hwmon.chip_rules.size(), 1U);
  EXPECT_TRUE(c.experimental.gpu.enabled);
  EXPECT_EQ(c.experimental.gpu.idle_power, 12.5);
  EXPECT_EQ(c.experimental.gpu.dcgm_endpoint, "http://d");
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
  const ChipRule& rule = c.experimental.hwmon.chip_rules.at(0);
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
  EXPECT_EQ(error("text"), "k.yaml:4: experimental.hwmon.chipRules[0]: must be a block of keys");
  EXPECT_THAT(error("{name: x, pairings: [1]}"), HasSubstr("chipRules[0].pairings: must be a block"));
  EXPECT_THAT(error("{name: x, pairings: {a: 1}}"), HasSubstr("chipRules[0].pairings: a sensor's index"));
  EXPECT_THAT(error("{name: x, skipVoltages: [-1]}"), HasSubstr("chipRules[0].skipVoltages: a sensor's index"));
  EXPECT_THAT(error("{name: x, skipCurrents: 3}"), HasSubstr("chipRules[0].skipCurrents: must be a list"));
  EXPECT_THAT(error("{name: x, skipCurrents: [9999]}"), HasSubstr("from 0 to 1024"));
  EXPECT_THAT(error("{name: x, useSameIndex: maybe}"), HasSubstr("chipRules[0].useSameIndex: must be true or false"));
  EXPECT_THAT(error("{name: [x]}\n    - {name: y}"), HasSubstr("chipRules[0].name: must be a text"));
}

TEST(LoadYaml, UnknownKeyOfAChipRule_IsReportedWithTheNearest) {
  const Loaded loaded = Load("experimental:\n  hwmon:\n    chipRules:\n    - {name: x, skipVoltage: [1]}\n");
  EXPECT_THAT(loaded.unknown, ElementsAre("k.yaml:4: experimental.hwmon.chipRules[0].skipVoltage: unknown key; did you "
                                          "mean experimental.hwmon.chipRules[0].skipVoltages"));
}

TEST(LoadYaml, ChipRulesThatAreNoList_AreRejected) {
  EXPECT_EQ(LoadError("experimental: {hwmon: {chipRules: x}}\n"),
            "k.yaml:1: experimental.hwmon.chipRules: must be a list of blocks");
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
  EXPECT_THAT(loaded.unknown, ElementsAre("k.yaml:2: monitor.intervall: unknown key; did you mean monitor.interval",
                                          "k.yaml:4: cpu.meters: unknown key; did you mean cpu.preferredMeters",
                                          "k.yaml:5: staleness: unknown key; did you mean monitor.staleness",
                                          "k.yaml:6: monitor.interval: unknown key; write blocks, not dots",
                                          "k.yaml:9: exporter.prometheus.somethingElse: unknown key"));
  EXPECT_EQ(loaded.config.monitor.interval, seconds(5));
}

TEST(LoadYaml, WrongTypes_AreRejectedWithPathAndLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"log: debug\n", "k.yaml:1: log: must be a block of keys"},
      {"log:\n  level: [debug]\n", "k.yaml:2: log.level: must be a text"},
      {"monitor:\n  interval: {a: 1}\n", "k.yaml:2: monitor.interval: must be a duration"},
      {"monitor:\n  interval: 5\n", "k.yaml:2: monitor.interval: \"5\" is not a duration: the unit is missing"},
      {"monitor:\n  interval: 5d\n", R"(k.yaml:2: monitor.interval: "5d" is not a duration: unknown unit "d")"},
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
      {"- log\n", "k.yaml:1: the file must hold a block of keys"},
      {"just text\n", "k.yaml:1: the file must hold a block of keys"},
      {"log:\n  level: info\n  level: info\n", "k.yaml:3: key level is given twice, first in line 2"},
  };
  for (const auto& [yaml, expected] : cases) EXPECT_THAT(LoadError(yaml), HasSubstr(expected)) << yaml;
}

TEST(LoadYaml, SeveralMistakes_AreAllReported) {
  EXPECT_EQ(Load("monitor: {interval: 5, staleness: x}\nkube: {enabled: perhaps}\n").errors.size(), 3U);
}

TEST(LoadYaml, Durations_InEverySpelling) {
  EXPECT_EQ(LoadFine("monitor: {interval: 0}\n").monitor.interval, Duration{0});
  EXPECT_EQ(LoadFine("monitor: {interval: \"0\"}\n").monitor.interval, Duration{0});
  EXPECT_EQ(LoadFine("monitor: {interval: 1h30m}\n").monitor.interval, minutes(90));
  EXPECT_EQ(LoadFine("monitor: {interval: 1.5s}\n").monitor.interval, milliseconds(1500));
}

TEST(LoadYaml, Booleans_AsYaml11) {
  for (const char* word : {"true", "True", "TRUE", "yes", "Yes", "on", "ON"})
    EXPECT_TRUE(LoadFine(std::string("kube: {enabled: ") + word + "}\n").kube.enabled) << word;
  for (const char* word : {"false", "no", "off", "OFF"})
    EXPECT_FALSE(LoadFine(std::string("exporter: {prometheus: {enabled: ") + word + "}}\n").exporter.prometheus.enabled)
        << word;
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
  EXPECT_EQ(c.monitor.interval, seconds(5));
  EXPECT_EQ(c.monitor.max_terminated, 500);
  EXPECT_FALSE(c.exporter.stdout_exporter.enabled);
  EXPECT_TRUE(c.exporter.prometheus.enabled);
  EXPECT_THAT(c.exporter.prometheus.debug_collectors, IsEmpty());
  EXPECT_EQ(c.exporter.prometheus.metrics_level, kLevelAll);
  EXPECT_THAT(c.web.listen_addresses, IsEmpty());
  EXPECT_THAT(c.cpu.preferred_meters, IsEmpty());
}

TEST(LoadYaml, TextsThatLookLikeNumbers_StayTexts) {
  const Config c = LoadFine("kube: {nodeName: 0123}\nrapl: {zones: [1, yes]}\n");
  EXPECT_EQ(c.kube.node_name, "0123");
  EXPECT_THAT(c.rapl.zones, ElementsAre("1", "yes"));
}

TEST(LoadYaml, MetricsLevel_TextListOrCommas) {
  const auto level = [](const std::string& value) {
    return LoadFine("exporter: {prometheus: {metricsLevel: " + value + "}}\n").exporter.prometheus.metrics_level;
  };
  EXPECT_EQ(level("node"), kLevelNode);
  EXPECT_EQ(level("[Node, ' POD ']"), kLevelNode | kLevelPod);
  EXPECT_EQ(level("\"node, container\""), kLevelNode | kLevelContainer);
  EXPECT_EQ(level("all"), kLevelAll);
  EXPECT_EQ(level("[]"), kLevelAll);
}

TEST(LoadYaml, BadMetricsLevel_NamesTheChoices) {
  const auto error = [](const std::string& value) {
    return LoadError("exporter:\n  prometheus:\n    metricsLevel: " + value + "\n");
  };
  EXPECT_EQ(
      error("[node, pods]"),
      "k.yaml:3: exporter.prometheus.metricsLevel: \"pods\" is not one of node, process, container, vm, pod, all; "
      "did you mean pod");
  EXPECT_THAT(error("\"\""), HasSubstr("\"\" is not one of node"));
}

TEST(LoadYaml, ExperimentalBlock_IsKeptWithNothingEnabled) {
  const Config c =
      LoadFine("cpu: {preferredMeters: [hwmon]}\nexperimental: {hwmon: {zones: [cpu], chips: [k10temp]}}\n");
  EXPECT_THAT(c.experimental.hwmon.zones, ElementsAre("cpu"));
  EXPECT_THAT(c.experimental.hwmon.chips, ElementsAre("k10temp"));
}

TEST(LoadYaml, Anchors_AreFollowed) {
  const Config c = LoadFine("rapl: {zones: &z [core]}\nexperimental: {hwmon: {zones: *z}}\n");
  EXPECT_THAT(c.experimental.hwmon.zones, ElementsAre("core"));
}

}  // namespace
}  // namespace kepler::config
