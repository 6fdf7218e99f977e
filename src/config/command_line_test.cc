#include "config/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/parse.h"
#include "config/config_test_util.h"
#include "config/schema.h"

namespace kepler::config {
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
  EXPECT_EQ(c.log.level, "info");
  EXPECT_EQ(c.log.format, "text");
  EXPECT_EQ(c.host.sysfs, "/sys");
  EXPECT_EQ(c.host.procfs, "/proc");
  EXPECT_EQ(c.monitor.interval, seconds(5));
  EXPECT_EQ(c.monitor.staleness, seconds(10));
  EXPECT_EQ(c.monitor.max_terminated, 500);
  EXPECT_EQ(c.monitor.min_terminated_energy_threshold, 10);
  EXPECT_EQ(c.monitor.terminated_retention, minutes(2));
  EXPECT_THAT(c.cpu.preferred_meters, ElementsAre("rapl", "hwmon"));
  EXPECT_THAT(c.rapl.zones, IsEmpty());
  EXPECT_FALSE(c.meter.require);
  EXPECT_EQ(c.activity.source, "auto");
  EXPECT_EQ(c.activity.counters, "off");
  EXPECT_EQ(c.attribution.weights, "cpu-time");
  EXPECT_EQ(c.attribution.ratio, "proc-stat");
  EXPECT_FALSE(c.exporter.stdout_exporter.enabled);
  EXPECT_EQ(c.exporter.stdout_exporter.top, 0);
  EXPECT_TRUE(c.exporter.prometheus.enabled);
  EXPECT_THAT(c.exporter.prometheus.debug_collectors, ElementsAre("go"));
  EXPECT_EQ(c.exporter.prometheus.metrics_level, kLevelAll);
  EXPECT_EQ(c.web.config_file, "");
  EXPECT_THAT(c.web.listen_addresses, ElementsAre(":28282"));
  EXPECT_FALSE(c.debug.pprof_enabled);
  EXPECT_FALSE(c.kube.enabled);
  EXPECT_EQ(c.kube.config, "");
  EXPECT_EQ(c.kube.node_name, "the-host");
  EXPECT_EQ(c.kube.pod_informer.mode, "kubelet");
  EXPECT_EQ(c.kube.pod_informer.poll_interval, seconds(15));
  EXPECT_FALSE(c.fake_cpu_meter.enabled);
  EXPECT_THAT(c.fake_cpu_meter.zones, IsEmpty());
  EXPECT_FALSE(c.experimental.redfish.enabled);
  EXPECT_EQ(c.experimental.redfish.node_name, "");
  EXPECT_EQ(c.experimental.redfish.config_file, "");
  EXPECT_EQ(c.experimental.redfish.http_timeout, seconds(5));
  EXPECT_FALSE(c.experimental.hwmon.force_enabled);
  EXPECT_THAT(c.experimental.hwmon.zones, IsEmpty());
  EXPECT_THAT(c.experimental.hwmon.chips, IsEmpty());
  EXPECT_TRUE(c.experimental.hwmon.chip_rules.empty());
  EXPECT_FALSE(c.experimental.gpu.enabled);
  EXPECT_EQ(c.experimental.gpu.idle_power, 0);
  EXPECT_EQ(c.experimental.gpu.dcgm_endpoint, "");
}

TEST(ParseCommandLine, EmptyFile_GivesTheDefaults) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("");
  EXPECT_EQ(parsed.action, Action::kRun) << parsed.text;
  EXPECT_EQ(parsed.config.monitor.interval, seconds(5));
}

TEST(ParseCommandLine, FileOverDefaults_AndFlagOverFile) {
  Fixture fixture;
  const std::string yaml = "monitor: {interval: 3s, maxTerminated: 1}\nlog: {level: warn}\n";
  const Parsed parsed = fixture.Yaml(yaml, {"--log.level=error"});
  EXPECT_EQ(parsed.config.monitor.interval, seconds(3));
  EXPECT_EQ(parsed.config.log.level, "error");
}

TEST(ParseCommandLine, FlagWithItsDefaultValue_StillOverridesTheFile) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("monitor: {interval: 3s}\nexporter: {prometheus: {enabled: false}}\n",
                                     {"--monitor.interval=5s", "--exporter.prometheus"});
  EXPECT_EQ(parsed.config.monitor.interval, seconds(5));
  EXPECT_TRUE(parsed.config.exporter.prometheus.enabled);
}

TEST(ParseCommandLine, ListByFlag_ReplacesTheListOfTheFile) {
  Fixture fixture;
  const Parsed parsed =
      fixture.Yaml("web: {listenAddresses: [':1', ':2']}\nexporter: {prometheus: {metricsLevel: [node, vm]}}\n",
                   {"--web.listen-address=:3", "--metrics=pod"});
  EXPECT_THAT(parsed.config.web.listen_addresses, ElementsAre(":3"));
  EXPECT_EQ(parsed.config.exporter.prometheus.metrics_level, kLevelPod);
}

TEST(ParseCommandLine, FileThatIsOnlyValidWithTheFlags_IsAccepted) {
  Fixture fixture;
  const Parsed parsed =
      fixture.Yaml("kube: {enabled: true}\nlog: {level: nonsense}\n", {"--kube.node-name=n", "--log.level=info"});
  EXPECT_EQ(parsed.action, Action::kRun) << parsed.text;
  EXPECT_EQ(parsed.config.kube.node_name, "n");
}

TEST(ParseCommandLine, ExperimentalSettings_SurviveBesideTheFlagThatEnables) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("experimental: {gpu: {idlePower: 20}}\n", {"--experimental.gpu.enabled"});
  EXPECT_TRUE(parsed.config.experimental.gpu.enabled);
  EXPECT_EQ(parsed.config.experimental.gpu.idle_power, 20);
}

TEST(ParseCommandLine, Mistakes_AreListedOneALine) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("monitor:\n  interval: 5\nlog:\n  level: inf\n", {"--activity.source=ebpf"});
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(parsed.exit_code, 1);
  EXPECT_TRUE(parsed.to_stderr);
  EXPECT_EQ(fixture.Short(parsed.text),
            "FILE:2: monitor.interval: \"5\" is not a duration: the unit is missing (ns, us, ms, s, m, h)\n"
            "FILE:4: log.level: \"inf\" is not one of debug, info, warn, error; did you mean info\n"
            "--activity.source: \"ebpf\" is not one of auto, bpf, procfs; did you mean bpf\n");
}

TEST(ParseCommandLine, BrokenYaml_IsRejectedWithItsLine) {
  Fixture fixture;
  const Parsed parsed = fixture.Yaml("log:\n\tlevel: info\n");
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(fixture.Short(parsed.text), "FILE:2: the line is indented with a tab; YAML takes spaces only\n");
}

constexpr const char* kPrivateKey = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n";

TEST(ParseCommandLine, KeyWhereAPathIsDue_IsRefusedAndNotShown) {
  const std::string value = ": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBg\\n-----END PRIVATE KEY-----\\n\"\n";
  for (const Key& key : Keys()) {
    if (!key.is_path) continue;
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
    const std::string flag = "--" + std::string(key.flag) + "=" + kPrivateKey;
    const Parsed parsed = Fixture().Flags({flag.c_str()});
    EXPECT_THAT(parsed.text, HasSubstr("--" + std::string(key.flag) + ": must be a path"));
    EXPECT_THAT(parsed.text, Not(HasSubstr("MIIE")));
    const std::string broken = "--" + std::string(key.flag) + "=a\nb";
    EXPECT_THAT(Fixture().Flags({broken.c_str()}).text, HasSubstr("line break"));
  }
}

TEST(ParseCommandLine, KeyAnywhere_IsNotShown) {
  const std::string key = kPrivateKey;
  for (const std::string& argument :
       {"--config.file=" + key, key, "--" + key, "--log.level=" + key, "--monitor.interval=" + key,
        "--web.listen-address=" + key, "--kube.node-name=" + key, "--kube.enable=" + key, "--metrics=" + key,
        "--experimental.gpu.dcgm-endpoint=" + key}) {
    const Parsed parsed = Fixture().Flags({argument.c_str()});
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
  EXPECT_EQ(parsed.text, "kepler: error: unknown long flag '--log.levl'; did you mean --log.level, try --help\n");
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
  EXPECT_EQ(fixture.Short(run.warnings[0]), "FILE:2: monitor.intervall: unknown key; did you mean monitor.interval");
  const Parsed check = fixture.Yaml(yaml, {"--config.check"});
  EXPECT_EQ(check.action, Action::kReject);
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_EQ(fixture.Short(check.text), "FILE:2: monitor.intervall: unknown key; did you mean monitor.interval\n");
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
      fixture.Yaml("monitor: {minTerminatedEnergyThreshold: 0.5}\nkube: {enabled: true, nodeName: x}\n",
                   {"--config.check", "--activity.source=procfs", "--activity.counters=hardware"});
  EXPECT_EQ(parsed.exit_code, 0);
  for (const char* part : {"warning: FILE:1: monitor.minTerminatedEnergyThreshold: \"0.5\" is read as 0",
                           "warning: activity.source: procfs counts no events", "warning: not in this version: kube",
                           "FILE: configuration is valid\n"})
    EXPECT_THAT(fixture.Short(parsed.text), HasSubstr(part));
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
  EXPECT_THAT(parsed.config.cpu.preferred_meters, ElementsAre("fake"));
  ASSERT_EQ(parsed.warnings.size(), 1U);
  EXPECT_EQ(fixture.Short(parsed.warnings[0]),
            "FILE:3: dev.fake-cpu-meter.enabled: deprecated; set cpu.preferredMeters to [fake] instead");
}

TEST(ParseCommandLine, WeightsByCounters_NeedCounters) {
  const Config hardware = Fixture().Flags({"--attribution.weights=counters"}).config;
  EXPECT_EQ(hardware.attribution.weights, "counters");
  EXPECT_EQ(hardware.activity.counters, "hardware");
  const Config software = Fixture().Flags({"--attribution.weights=counters", "--activity.counters=software"}).config;
  EXPECT_EQ(software.activity.counters, "software");
  EXPECT_EQ(Fixture().Flags({"--activity.counters=hardware"}).config.attribution.weights, "cpu-time");
}

TEST(ParseCommandLine, CountersWithoutBpf_Warn) {
  const Parsed parsed = Fixture().Flags({"--activity.source=procfs", "--activity.counters=hardware"});
  EXPECT_EQ(parsed.action, Action::kRun);
  EXPECT_THAT(parsed.warnings, ElementsAre(StartsWith("activity.source: procfs counts no events")));
  EXPECT_THAT(Fixture().Flags({"--activity.source=procfs"}).warnings, IsEmpty());
}

TEST(ParseCommandLine, Help_GoesToStderrAndListsEveryFlagWithItsDefault) {
  const Parsed parsed = Fixture().Flags({"--help"});
  EXPECT_EQ(parsed.action, Action::kHelp);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_TRUE(parsed.to_stderr);
  EXPECT_THAT(parsed.text, StartsWith("usage: kepler [<flags>]\n"));
  for (const Key& key : Keys()) EXPECT_THAT(parsed.text, HasSubstr(std::string(key.flag)));
  for (const char* text :
       {"--monitor.interval=5s", "--[no-]kube.enable", "--web.listen-address=ITEM ...", "(default [\":28282\"])",
        "--config.file=FILE", "also --config", "--config.check", "--version", "(default true)",
        "Read the GPUs; not in this version: GPUs are not read (default false)"})
    EXPECT_THAT(parsed.text, HasSubstr(text));
}

TEST(ParseCommandLine, Version_GoesToStdout) {
  const char* argv[] = {"kepler", "--version"};
  const BuildInfo build{.version = "1.2.3", .revision = "abc", .branch = "main", .compiler = "g++ 12", .arch = "amd64"};
  const Parsed parsed = ParseCommandLine(2, argv, build);
  EXPECT_EQ(parsed.action, Action::kVersion);
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_FALSE(parsed.to_stderr);
  EXPECT_EQ(parsed.text,
            "kepler, version 1.2.3 (branch: main, revision: abc)\n  compiler: g++ 12\n  platform: linux/amd64\n");
}

TEST(ParseCommandLine, HostName_ComesFromTheSystemUnlessGiven) {
  const char* argv[] = {"kepler"};
  EXPECT_NE(ParseCommandLine(1, argv, BuildInfo{}).config.kube.node_name, "");
}

TEST(ParseCommandLine, NoArgumentsAtAll_IsARun) {
  EXPECT_EQ(ParseCommandLine(0, nullptr, BuildInfo{}, "h").action, Action::kRun);
}

}  // namespace
}  // namespace kepler::config
