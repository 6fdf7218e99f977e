
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apps/kepler/config_test_util.h"
#include "base/parse.h"

namespace kepler::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ParseCommandLine, Nothing_GivesTheDefaults) {
  const Parsed parsed = Fixture().Flags({});
  ASSERT_EQ(parsed.action, Action::kRun) << parsed.text;
  EXPECT_THAT(parsed.warnings, IsEmpty());
  const Config& c = parsed.config;
  EXPECT_EQ(c.log_level, log::Level::kInfo);
  EXPECT_EQ(c.log_format, log::Format::kText);
  EXPECT_EQ(c.host.sysfs, "/sys");
  EXPECT_EQ(c.host.procfs, "/proc");
  EXPECT_EQ(c.freshness.interval, seconds(5));
  EXPECT_EQ(c.freshness.staleness, seconds(10));
  EXPECT_EQ(c.max_terminated, 500);
  EXPECT_EQ(c.min_terminated_joules, 10);
  EXPECT_EQ(c.terminated_retention, minutes(2));
  EXPECT_THAT(c.preferred_meters, ElementsAre(Meter::kRapl, Meter::kHwmon));
  EXPECT_THAT(c.rapl.zones, IsEmpty());
  EXPECT_FALSE(c.require_meter);
  EXPECT_TRUE(c.model_platform);
  EXPECT_FALSE(c.model_guest_idle);
  EXPECT_EQ(c.activity_source, ActivityChoice::kAuto);
  EXPECT_EQ(c.counters, Counters::kOff);
  EXPECT_EQ(c.split.weights, pipeline::CpuWeights::kTime);
  EXPECT_EQ(c.split.ratio, snapshot::RatioMethod::kProcStat);
  EXPECT_FALSE(c.stdout_enabled);
  EXPECT_EQ(c.stdout_top, 0);
  EXPECT_TRUE(c.prometheus_enabled);
  EXPECT_THAT(c.debug_collectors, ElementsAre(DebugCollector::kGo));
  EXPECT_EQ(c.metrics_level, kUpstreamLevels);
  EXPECT_EQ(c.web_config_file, "");
  EXPECT_THAT(c.listen_addresses, ElementsAre(":28282"));
  EXPECT_FALSE(c.pprof_enabled);
  EXPECT_FALSE(c.kube_enabled);
  EXPECT_EQ(c.kube_config, "");
  EXPECT_EQ(c.node_name, "the-host");
  EXPECT_EQ(c.informer_mode, InformerMode::kKubelet);
  EXPECT_EQ(c.informer_poll_interval, seconds(15));
  EXPECT_FALSE(c.software_events);
  EXPECT_FALSE(c.fake_meter);
  EXPECT_THAT(c.fake_zones, IsEmpty());
  EXPECT_FALSE(c.redfish_enabled);
  EXPECT_EQ(c.redfish_node_name, "");
  EXPECT_EQ(c.redfish_config_file, "");
  EXPECT_EQ(c.redfish_http_timeout, seconds(5));
  EXPECT_FALSE(c.force_hwmon);
  EXPECT_THAT(c.hwmon.zones, IsEmpty());
  EXPECT_THAT(c.hwmon.chips, IsEmpty());
  EXPECT_TRUE(c.hwmon.chip_rules.empty());
  EXPECT_FALSE(c.gpu_enabled);
  EXPECT_EQ(c.gpu_idle_power, 0);
  EXPECT_EQ(c.gpu_dcgm_endpoint, "");
}

TEST(ParseCommandLine, EmptyFile_GivesTheDefaults) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("");
  EXPECT_EQ(parsed.action, Action::kRun) << parsed.text;
  EXPECT_EQ(parsed.config.freshness.interval, seconds(5));
}

TEST(ParseCommandLine, FileOverDefaults_AndFlagOverFile) {
  Fixture fixture;
  const std::string yaml = "monitor: {interval: 3s, maxTerminated: 1}\nlog: {level: warn}\n";
  const Parsed parsed = fixture.Yaml(yaml, {"--log.level=error"});
  EXPECT_EQ(parsed.config.freshness.interval, seconds(3));
  EXPECT_EQ(parsed.config.log_level, log::Level::kError);
}

TEST(ParseCommandLine, FlagWithItsDefaultValue_StillOverridesTheFile) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("monitor: {interval: 3s}\nexporter: {prometheus: {enabled: false}}\n",
                                     {"--monitor.interval=5s", "--exporter.prometheus"});
  EXPECT_EQ(parsed.config.freshness.interval, seconds(5));
  EXPECT_TRUE(parsed.config.prometheus_enabled);
}

TEST(ParseCommandLine, ListByFlag_ReplacesTheListOfTheFile) {
  Fixture fixture;
  const Parsed parsed =
      fixture.Yaml("web: {listenAddresses: [':1', ':2']}\nexporter: {prometheus: {metricsLevel: [node, vm]}}\n",
                   {"--web.listen-address=:3", "--metrics=pod"});
  EXPECT_THAT(parsed.config.listen_addresses, ElementsAre(":3"));
  EXPECT_EQ(parsed.config.metrics_level, Levels({MetricsLevel::kPod}));
}

TEST(ParseCommandLine, FileThatIsOnlyValidWithTheFlags_IsAccepted) {
  Fixture fixture;
  fixture.tree.Write("kubeconfig",
                     "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\n"
                     "clusters: [{name: b, cluster: {server: 'https://127.0.0.1:1'}}]\n");
  const Parsed parsed =
      fixture.Yaml("kube: {enabled: true, config: " + fixture.tree.Path("kubeconfig") + "}\nlog: {level: nonsense}\n",
                   {"--kube.node-name=n", "--log.level=info"});
  EXPECT_EQ(parsed.action, Action::kRun) << parsed.text;
  EXPECT_EQ(parsed.config.node_name, "n");
}

TEST(ParseCommandLine, ExperimentalSettings_SurviveNextToTheFlagThatEnables) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("experimental: {gpu: {idlePower: 20}}\n", {"--experimental.gpu.enabled"});
  EXPECT_TRUE(parsed.config.gpu_enabled);
  EXPECT_EQ(parsed.config.gpu_idle_power, 20);
}

TEST(ParseCommandLine, Mistakes_AreListedOneALine) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("monitor:\n  interval: 5\nlog:\n  level: inf\n", {"--activity.source=ebpf"});
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(parsed.exit_code, 1);
  EXPECT_TRUE(parsed.to_stderr);
  EXPECT_EQ(fixture.Short(parsed.text),
            "FILE:2: monitor.interval: \"5\" is not a duration: the unit is missing (ns, us, ms, s, m, h, d)\n"
            "FILE:4: log.level: \"inf\" is not one of debug, info, warn, error; did you mean info?\n"
            "--activity.source: \"ebpf\" is not one of auto, bpf, procfs; did you mean bpf?\n");
}

TEST(ParseCommandLine, BrokenYaml_IsRejectedWithItsLine) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("log:\n\tlevel: info\n");
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(fixture.Short(parsed.text), "FILE:2: the line is indented with a tab; use spaces\n");
}

constexpr const char* kPrivateKey = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n";

TEST(ParseCommandLine, KeyWhereAPathIsDue_IsRefusedAndNotShown) {
  const std::string value = ": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBg\\n-----END PRIVATE KEY-----\\n\"\n";
  for (const settings::Key& key : kTable.keys) {
    if (!key.details.is_path) continue;
    std::string yaml, indentation;
    Splitter parts(key.path, '.');
    while (const auto part = parts.Next()) {
      yaml += (yaml.empty() ? "" : ":\n") + indentation + std::string(*part);
      indentation += "  ";
    }
    for (const char* what : {"", "--config.check", "--config.print"}) {
      Fixture fixture;
      const Parsed parsed = *what == 0 ? fixture.Yaml(yaml + value) : fixture.Yaml(yaml + value, {what});
      EXPECT_EQ(parsed.action, Action::kReject) << key.path;
      EXPECT_THAT(parsed.text, HasSubstr(std::string(key.path) + ": must be a path"));
      EXPECT_THAT(parsed.text, Not(HasSubstr("MIIE")));
    }
    if (key.flag.empty()) continue;
    const std::string flag = "--" + std::string(key.flag) + "=" + kPrivateKey;
    const Parsed parsed = Fixture().Flags({flag});
    EXPECT_THAT(parsed.text, HasSubstr("--" + std::string(key.flag) + ": must be a path"));
    EXPECT_THAT(parsed.text, Not(HasSubstr("MIIE")));
    const std::string broken = "--" + std::string(key.flag) + "=a\nb";
    EXPECT_THAT(Fixture().Flags({broken}).text, HasSubstr("line break"));
  }
}

TEST(ParseCommandLine, KeyAnywhere_IsNotShown) {
  const std::string key = kPrivateKey;
  for (const std::string& argument :
       {"--config.file=" + key, key, "--" + key, "--log.level=" + key, "--monitor.interval=" + key,
        "--web.listen-address=" + key, "--kube.node-name=" + key, "--kube.enable=" + key, "--metrics=" + key,
        "--experimental.gpu.dcgm-endpoint=" + key}) {
    const Parsed parsed = Fixture().Flags({argument});
    EXPECT_EQ(parsed.action, Action::kReject);
    EXPECT_THAT(parsed.text, Not(HasSubstr("MIIE"))) << argument;
  }
  Fixture fixture;
  EXPECT_THAT(fixture
                  .Yaml("\""
                        "-----BEGIN PRIVATE KEY-----MIIEvQ\": 1\n",
                        {"--config.check"})
                  .text,
              Not(HasSubstr("MIIE")));
}

TEST(ParseCommandLine, UnreadableFile_IsRejected) {
  const Parsed parsed = Fixture().Flags({"--config.file=/nonexistent/k.yaml"});
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(parsed.exit_code, 1);
  EXPECT_EQ(parsed.text, "/nonexistent/k.yaml: open /nonexistent/k.yaml: No such file or directory\n");
}

TEST(ParseCommandLine, MissingGivenDirectory_IsRejectedByFlagAndByFile) {
  Fixture fixture;
  EXPECT_THAT(fixture.Flags({"--host.sysfs=/nonexistent"}).text, StartsWith("--host.sysfs: cannot read directory"));
  EXPECT_THAT(fixture.Short(fixture.Yaml("host: {procfs: /nonexistent}\n").text),
              StartsWith("FILE:1: host.procfs: cannot read directory"));
  EXPECT_EQ(fixture.Flags({"--host.sysfs=" + fixture.tree.Path("sys")}).action, Action::kRun);
}

TEST(ParseCommandLine, BadFlag_IsReportedAsUpstreamDoes) {
  const Parsed parsed = Fixture().Flags({"--log.levl=info"});
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(parsed.exit_code, 1);
  EXPECT_TRUE(parsed.to_stderr);
  EXPECT_EQ(parsed.text, "kepler: error: unknown long flag '--log.levl'; did you mean --log.level? Try --help\n");
  EXPECT_EQ(
      Fixture().Flags({"--monitor.interval=soon"}).text,
      "kepler: error: --monitor.interval: \"soon\" is not a duration: a number is missing; write for example 500ms, "
      "1m30s or 1.5h, try --help\n");
}

TEST(ParseCommandLine, UnknownKey_WarnsAtTheStartAndFailsTheCheck) {
  Fixture fixture;
  const std::string yaml = "monitor:\n  intervall: 5s\n";
  const Parsed run = fixture.Yaml(yaml);
  EXPECT_EQ(run.action, Action::kRun);
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_EQ(fixture.Short(run.warnings[0]), "FILE:2: monitor.intervall: unknown key; did you mean monitor.interval?");
  const Parsed check = fixture.Yaml(yaml, {"--config.check"});
  EXPECT_EQ(check.action, Action::kReject);
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_EQ(fixture.Short(check.text), "FILE:2: monitor.intervall: unknown key; did you mean monitor.interval?\n");
}

TEST(ParseCommandLine, CheckOfAGoodFile_ExitsWithZero) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("log: {level: warn}\n", {"--config.check"});
  EXPECT_EQ(parsed.action, Action::kCheck);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_FALSE(parsed.to_stderr);
  EXPECT_EQ(fixture.Short(parsed.text), "FILE: configuration is valid\n");
}

TEST(ParseCommandLine, Check_SaysWhatTheStartWouldWarnOf) {
  Fixture fixture;
  const Parsed parsed =
      fixture.Yaml("monitor: {minTerminatedEnergyThreshold: 0.5}\nexperimental: {gpu: {enabled: true}}\n",
                   {"--config.check", "--activity.source=procfs", "--activity.counters=hardware"});
  EXPECT_EQ(parsed.exit_code, 0);
  for (const char* part : {"warning: FILE:1: monitor.minTerminatedEnergyThreshold: \"0.5\" is read as 0",
                           "warning: activity.source: procfs cannot count hardware events",
                           "warning: not in this version: experimental.gpu", "FILE: configuration is valid\n"})
    EXPECT_THAT(fixture.Short(parsed.text), HasSubstr(part));
}

TEST(ParseCommandLine, ErrorsThatAreFoundLater_GetThePlaceOfTheirKey) {
  Fixture fixture;
  const std::string yaml = "exporter:\n  otlp:\n    endpoint: ftp://h\n";
  for (const std::vector<std::string>& action : {std::vector<std::string>{}, {"--config.check"}}) {
    auto flags = action;
    flags.emplace_back("--activity.source=bpf");
    const Parsed parsed = fixture.Yaml(yaml, flags);
    const auto placed = [&](const std::string& message) { return fixture.Short(WithPlace(parsed, message)); };
    EXPECT_EQ(placed("exporter.otlp.endpoint: has: colons"), "FILE:3: exporter.otlp.endpoint: has: colons");
    EXPECT_EQ(placed("activity.source: bpf: why"), "--activity.source: bpf: why");
    for (const char* other : {"exporter.otlp.headersFile: not given", "open /x: why", "exporter.otlp.endpoint", ""})
      EXPECT_EQ(placed(other), other);
  }
}

TEST(ParseCommandLine, CheckOfABadFile_ExitsWithOne) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("log: {level: loud}\n", {"--config.check"});
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(parsed.exit_code, 1);
}

TEST(ParseCommandLine, SeveralMistakes_FitOnOneLineOfTheLog) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("log: {level: loud}\nmonitor: {interval: 5}\n");
  const std::string line = fixture.Short(OneLine(parsed));
  EXPECT_THAT(line, StartsWith("FILE:"));
  EXPECT_THAT(line, HasSubstr("; FILE:"));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_THAT(line, Not(EndsWith(";")));
  EXPECT_EQ(OneLine(Fixture().Flags({"run"})), "kepler: error: unexpected run, try --help");
}

TEST(ParseCommandLine, BadFlagWithControls_IsShownNotSent) {
  EXPECT_EQ(Fixture().Flags({"a\x1B[2J\n"}).text, "kepler: error: unexpected a\\x1b[2J\\x0a, try --help\n");
}

TEST(ParseCommandLine, Print_ShowsWhatIsInForce) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("monitor: {interval: 3s}\n", {"--config.print", "--log.level=warn"});
  EXPECT_EQ(parsed.action, Action::kPrint);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_FALSE(parsed.to_stderr);
  EXPECT_THAT(parsed.text,
              AllOf(HasSubstr("\n  interval: 3s\n"), HasSubstr("  level: warn\n"), HasSubstr("nodeName: the-host\n")));
}

TEST(ParseCommandLine, Deprecated_WarnsAndSetsTheMeters) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("dev:\n  fake-cpu-meter:\n    enabled: true\ncpu: {preferredMeters: [rapl]}\n");
  EXPECT_THAT(parsed.config.preferred_meters, ElementsAre(Meter::kFake));
  ASSERT_EQ(parsed.warnings.size(), 1U);
  EXPECT_EQ(fixture.Short(parsed.warnings[0]),
            "FILE:3: dev.fake-cpu-meter.enabled: deprecated; set cpu.preferredMeters to [fake] instead");
}

TEST(ParseCommandLine, WeightsByCounters_NeedCounters) {
  const Config hardware = Fixture().Flags({"--attribution.weights=counters"}).config;
  EXPECT_EQ(hardware.split.weights, pipeline::CpuWeights::kCounters);
  EXPECT_EQ(hardware.counters, Counters::kHardware);
  const Config software = Fixture().Flags({"--attribution.weights=counters", "--dev.software-events"}).config;
  EXPECT_EQ(software.counters, Counters::kHardware);
  EXPECT_TRUE(software.software_events);
  const Config counted = Fixture().Flags({"--activity.counters=hardware"}).config;
  EXPECT_EQ(counted.split.weights, pipeline::CpuWeights::kTime);
}

TEST(ParseCommandLine, CountersWithoutBpf_Warn) {
  const Parsed parsed = Fixture().Flags({"--activity.source=procfs", "--activity.counters=hardware"});
  EXPECT_EQ(parsed.action, Action::kRun);
  EXPECT_THAT(parsed.warnings, ElementsAre(StartsWith("activity.source: procfs cannot count hardware events")));
  EXPECT_THAT(Fixture().Flags({"--activity.source=procfs"}).warnings, IsEmpty());
}

TEST(ParseCommandLine, Help_GoesToStdoutAndListsEveryFlagWithItsDefault) {
  const Parsed parsed = Fixture().Flags({"--help"});
  EXPECT_EQ(parsed.action, Action::kHelp);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_FALSE(parsed.to_stderr);
  EXPECT_THAT(parsed.text, StartsWith("usage: kepler [<flags>]\n"));
  for (const settings::Key& key : kTable.keys) {
    if (settings::IsForDevelopment(key)) continue;
    EXPECT_THAT(parsed.text, HasSubstr(std::string(key.flag)));
  }
  EXPECT_THAT(parsed.text, Not(HasSubstr("--[no-]dev.")));
  for (const char* text :
       {"--monitor.interval=5s", "--[no-]kube.enable", "--web.listen-address=ITEM ...", "(default [\":28282\"])",
        "--config.file=FILE", "also --config", "--config.check", "--version", "(default true)",
        "Read the power of GPUs; not in this version: GPUs are not read (default false)"})
    EXPECT_THAT(parsed.text, HasSubstr(text));
}

TEST(ParseCommandLine, Version_GoesToStdout) {
  const char* argv[] = {"kepler", "--version"};
  const BuildInfo build{.version = "1.2.3", .revision = "abc", .branch = "main", .compiler = "g++ 12", .arch = "amd64"};
  const Parsed parsed = ParseCommandLine(argv, build);
  EXPECT_EQ(parsed.action, Action::kVersion);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_FALSE(parsed.to_stderr);
  EXPECT_EQ(parsed.text,
            "kepler, version 1.2.3 (branch: main, revision: abc)\n  compiler: g++ 12\n  platform: linux/amd64\n");
}

TEST(ParseCommandLine, HostName_ComesFromTheSystemUnlessGiven) {
  const char* argv[] = {"kepler"};
  EXPECT_NE(ParseCommandLine(argv, BuildInfo{}).config.node_name, "");
}

TEST(ParseCommandLine, NoArgumentsAtAll_IsARun) {
  EXPECT_EQ(ParseCommandLine({}, BuildInfo{}, "h").action, Action::kRun);
}

}  // namespace
}  // namespace kepler::agent
