
#include "settings/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/kepler/config_test_util.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using settings::Action;
using settings::Flags;

Result<Flags> Parse(const std::vector<const char*>& arguments) { return ParseFlags(kTable.keys, arguments); }

std::string ParseError(const std::vector<const char*>& arguments) {
  const auto flags = Parse(arguments);
  EXPECT_FALSE(flags);
  return flags ? "" : flags.error().message;
}

Config Apply(const std::vector<const char*>& arguments) {
  const auto flags = Parse(arguments);
  EXPECT_TRUE(flags) << (flags ? "" : flags.error().message);
  ConfigDraft draft("");
  if (!flags) return draft.config;
  const Status applied = ApplyFlags(draft, *flags);
  EXPECT_TRUE(applied) << (applied ? "" : applied.error().message);
  return draft.config;
}

std::string ApplyError(const char* argument) {
  const auto flags = Parse({argument});
  EXPECT_TRUE(flags) << argument;
  ConfigDraft draft("");
  const Status applied = flags ? ApplyFlags(draft, *flags) : Status();
  EXPECT_FALSE(applied) << argument;
  return applied ? "" : applied.error().message;
}

TEST(Flags, EveryFlagOfUpstream_ReachesItsMember) {
  const Config c = Apply({"--log.level=debug",
                          "--log.format=json",
                          "--host.sysfs=/a",
                          "--host.procfs=/b",
                          "--monitor.interval=3s",
                          "--monitor.max-terminated=7",
                          "--debug.pprof",
                          "--web.config-file=/w",
                          "--web.listen-address=:1",
                          "--web.listen-address=:2",
                          "--exporter.stdout",
                          "--no-exporter.prometheus",
                          "--metrics=node",
                          "--metrics=Pod",
                          "--kube.enable",
                          "--kube.config=/k",
                          "--kube.node-name=n",
                          "--experimental.platform.redfish.enabled",
                          "--experimental.platform.redfish.node-name=r",
                          "--experimental.platform.redfish.config-file=/r",
                          "--experimental.hwmon.force-enabled",
                          "--experimental.hwmon.zones=z",
                          "--experimental.gpu.enabled",
                          "--experimental.gpu.idle-power=1.5",
                          "--experimental.gpu.dcgm-endpoint=http://d"});
  EXPECT_EQ(c.log_level, log::Level::kDebug);
  EXPECT_EQ(c.log_format, log::Format::kJson);
  EXPECT_EQ(c.host.sysfs, "/a");
  EXPECT_EQ(c.host.procfs, "/b");
  EXPECT_EQ(c.freshness.interval, std::chrono::seconds(3));
  EXPECT_EQ(c.max_terminated, 7);
  EXPECT_TRUE(c.pprof_enabled);
  EXPECT_EQ(c.web_config_file, "/w");
  EXPECT_THAT(c.listen_addresses, ElementsAre(":1", ":2"));
  EXPECT_TRUE(c.stdout_enabled);
  EXPECT_FALSE(c.prometheus_enabled);
  EXPECT_EQ(c.metrics_level, Levels({MetricsLevel::kNode, MetricsLevel::kPod}));
  EXPECT_TRUE(c.kube_enabled);
  EXPECT_EQ(c.kube_config, "/k");
  EXPECT_EQ(c.node_name, "n");
  EXPECT_TRUE(c.redfish_enabled);
  EXPECT_EQ(c.redfish_node_name, "r");
  EXPECT_EQ(c.redfish_config_file, "/r");
  EXPECT_TRUE(c.force_hwmon);
  EXPECT_THAT(c.hwmon.zones, ElementsAre("z"));
  EXPECT_TRUE(c.gpu_enabled);
  EXPECT_EQ(c.gpu_idle_power, 1.5);
  EXPECT_EQ(c.gpu_dcgm_endpoint, "http://d");
}

TEST(Flags, FlagsOfOurOwn_ReachTheirMember) {
  const Config c = Apply({"--meter.require", "--activity.source=procfs", "--activity.counters=hardware",
                          "--dev.software-events", "--attribution.weights=counters", "--attribution.ratio=exact",
                          "--attribution.split=baseline", "--exporter.stdout.top=5"});
  EXPECT_TRUE(c.require_meter);
  EXPECT_TRUE(c.software_events);
  EXPECT_EQ(c.activity_source, ActivityChoice::kProcfs);
  EXPECT_EQ(c.counters, Counters::kHardware);
  EXPECT_EQ(c.split.weights, pipeline::CpuWeights::kCounters);
  EXPECT_EQ(c.split.ratio, snapshot::RatioMethod::kExact);
  EXPECT_EQ(c.split.idle, pipeline::IdlePolicy::kBaseline);
  EXPECT_EQ(c.stdout_top, 5);
}

TEST(Flags, ValueInTheNextArgument_IsTaken) {
  const Config c = Apply({"--log.level", "warn", "--monitor.max-terminated", "-1", "--kube.node-name", "-"});
  EXPECT_EQ(c.log_level, log::Level::kWarn);
  EXPECT_EQ(c.max_terminated, -1);
  EXPECT_EQ(c.node_name, "-");
}

TEST(Flags, EmptyValue_DoesNotSwallowTheNextFlag) {
  const Config c = Apply({"--kube.node-name=", "--log.level=warn"});
  EXPECT_EQ(c.node_name, "");
  EXPECT_EQ(c.log_level, log::Level::kWarn);
}

TEST(Flags, ValueWithEqualsSigns_IsKeptWhole) { EXPECT_EQ(Apply({"--kube.node-name=a=b"}).node_name, "a=b"); }

TEST(Flags, Booleans_InTheirThreeForms) {
  EXPECT_TRUE(Apply({"--kube.enable"}).kube_enabled);
  EXPECT_TRUE(Apply({"--kube.enable=true"}).kube_enabled);
  EXPECT_FALSE(Apply({"--exporter.prometheus=false"}).prometheus_enabled);
  EXPECT_FALSE(Apply({"--no-exporter.prometheus"}).prometheus_enabled);
  EXPECT_EQ(ParseError({"--no-meter.require=false"}), "flag '--no-meter.require' takes no value");
  EXPECT_THAT(ParseError({"--kube.enable=maybe"}),
              HasSubstr("flag '--kube.enable' must be true or false, not 'maybe'"));
}

TEST(Flags, BooleanOfAProgramOutsideItsTable_IsTakenInItsThreeForms) {
  const auto take = [](std::vector<const char*> arguments, size_t left) {
    const auto value = settings::TakeBool(arguments, "json");
    EXPECT_EQ(arguments.size(), left);
    return value ? (*value ? "true" : "false") : value.error().message;
  };
  EXPECT_EQ(take({"--jsonx", "json"}, 2), "false");
  EXPECT_EQ(take({"--json", "--log.level=warn"}, 1), "true");
  EXPECT_EQ(take({"--json=yes"}, 0), "true");
  EXPECT_EQ(take({"--json=false"}, 0), "false");
  EXPECT_EQ(take({"--json", "--no-json"}, 0), "false");
  EXPECT_EQ(take({"--no-json=true"}, 1), "flag '--no-json' takes no value");
  EXPECT_EQ(take({"--json="}, 1), "flag '--json' must be true or false, not ''");
}

TEST(Flags, TextOfAProgramOutsideItsTable_IsTakenInItsTwoForms) {
  const auto take = [](std::vector<const char*> arguments, size_t left) {
    const auto value = settings::TakeText(arguments, "output");
    EXPECT_EQ(arguments.size(), left);
    return value ? *value : value.error().message;
  };
  EXPECT_EQ(take({"--outputs=x"}, 1), "");
  EXPECT_EQ(take({"--output=a=b", "--json"}, 1), "a=b");
  EXPECT_EQ(take({"--output", "a", "--output", "-1"}, 0), "-1");
  EXPECT_EQ(take({"--output="}, 0), "");
  EXPECT_EQ(take({"--output", "--json"}, 2), "expected argument for flag '--output'");
  EXPECT_EQ(take({"--json", "--output"}, 2), "expected argument for flag '--output'");
}

TEST(Flags, MetricsWithCommasCaseAndAll_AreUnited) {
  EXPECT_EQ(Apply({"--metrics=node, POD", "--metrics=vm"}).metrics_level,
            Levels({MetricsLevel::kNode, MetricsLevel::kPod, MetricsLevel::kVm}));
  EXPECT_EQ(Apply({"--metrics=all"}).metrics_level.bits, (1U << 8) - 1) << "namespace, owner and user too";
  EXPECT_THAT(ApplyError("--metrics=node,pods"), HasSubstr("--metrics: \"pods\" is not one of"));
  EXPECT_THAT(ApplyError("--metrics="), HasSubstr("--metrics: \"\" is not one of"));
}

TEST(Flags, Aliases_MeanTheSame) {
  EXPECT_EQ(Apply({"--web.config.file=/w"}).web_config_file, "/w");
  EXPECT_EQ(Parse({"--config=/a"})->config_file, "/a");
  EXPECT_EQ(Parse({"--config.file", "/a"})->config_file, "/a");
  EXPECT_EQ(ParseError({"--config=/a", "--config.file=/b"}), "flag 'config.file' cannot be repeated");
  EXPECT_EQ(ParseError({"--web.config.file=/a", "--web.config-file=/b"}), "flag 'web.config-file' cannot be repeated");
}

TEST(Flags, RepeatedSingleValue_IsAnError) {
  EXPECT_EQ(ParseError({"--log.level=info", "--log.level=warn"}), "flag 'log.level' cannot be repeated");
  EXPECT_EQ(ParseError({"--kube.enable", "--no-kube.enable"}), "flag 'kube.enable' cannot be repeated");
}

TEST(Flags, UnknownFlags_SuggestTheNearest) {
  EXPECT_EQ(ParseError({"--log.levl=info"}), "unknown long flag '--log.levl'; did you mean --log.level?");
  EXPECT_EQ(ParseError({"--no-kube.enabled"}), "unknown long flag '--no-kube.enabled'; did you mean --no-kube.enable?");
  EXPECT_EQ(ParseError({"--zzzzzzzzzzzz"}), "unknown long flag '--zzzzzzzzzzzz'");
  EXPECT_THAT(ParseError({"--no-log.level"}), HasSubstr("unknown long flag"));
  EXPECT_EQ(ParseError({"-x"}), "unknown short flag '-x'");
  EXPECT_EQ(ParseError({"run"}), "unexpected run");
}

TEST(Flags, TwoDashes_EndTheFlags) {
  EXPECT_EQ(Apply({"--log.level=warn", "--"}).log_level, log::Level::kWarn);
  EXPECT_EQ(ParseError({"--", "--log.level=warn"}), "unexpected --log.level=warn");
  EXPECT_EQ(ParseError({"--", "--help"}), "unexpected --help");
  EXPECT_EQ(ParseError({"--", "--"}), "unexpected --");
  EXPECT_EQ(Apply({"--kube.node-name", "--", "--x"}).node_name, "--x");
  EXPECT_EQ(ParseError({"--kube.node-name", "--"}), "expected argument for flag '--kube.node-name'");
}

TEST(Flags, MissingValue_IsAnError) {
  EXPECT_EQ(ParseError({"--log.level"}), "expected argument for flag '--log.level'");
  EXPECT_EQ(ParseError({"--log.level", "--kube.enable"}), "expected argument for flag '--log.level'");
}

TEST(Flags, BadValues_NameTheFlag) {
  EXPECT_THAT(ApplyError("--monitor.interval=5"), HasSubstr("--monitor.interval: \"5\" is not a duration"));
  EXPECT_THAT(ApplyError("--monitor.max-terminated=5.5"),
              HasSubstr("--monitor.max-terminated: \"5.5\" is not a whole"));
  EXPECT_THAT(ApplyError("--experimental.gpu.idle-power=x"), HasSubstr("--experimental.gpu.idle-power: \"x\" is not"));
}

TEST(Flags, Requests_TheStrongestWins) {
  EXPECT_EQ(Parse({})->action, Action::kRun);
  EXPECT_EQ(Parse({"--config.print"})->action, Action::kPrint);
  EXPECT_EQ(Parse({"--config.check", "--config.print"})->action, Action::kCheck);
  EXPECT_EQ(Parse({"--version", "--config.check"})->action, Action::kVersion);
  for (const char* help : {"--help", "-h", "--help-long"}) EXPECT_EQ(Parse({help, "--bogus"})->action, Action::kHelp);
  EXPECT_EQ(ParseError({"--version=1"}), "flag '--version' takes no value");
}

}  // namespace
}  // namespace kepler::agent
