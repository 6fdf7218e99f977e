#include "config/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "config/config_test_util.h"

namespace kepler::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Validation : public ::testing::Test {
 protected:
  Validation() {
    tree_.Write("proc/stat", "x");
    tree_.Write("sys/x", "x");
    draft_.config.host = {.sysfs = tree_.Path("sys"), .procfs = tree_.Path("proc")};
  }
  const std::vector<std::string>& Errors() {
    Validate(draft_);
    return draft_.errors();
  }
  void GiveByFile(std::string_view path, int line) {
    draft_.origin(KeyIndex(path)) = {.from = From::kFile, .line = line, .item_lines = {}, .flag = {}};
  }

  testing::FakeTree tree_;
  Draft draft_{"k.yaml"};
  Config& config_ = draft_.config;
};

TEST_F(Validation, Defaults_AreValid) { EXPECT_THAT(Errors(), IsEmpty()); }

TEST_F(Validation, OffendingValue_IsBlamedWhereItCameFrom) {
  config_.log.level = "trace";
  EXPECT_EQ(draft_.Where(KeyIndex("log.level")), "log.level");
  GiveByFile("log.level", 3);
  EXPECT_EQ(draft_.Where(KeyIndex("log.level")), "k.yaml:3: log.level");
  draft_.origin(KeyIndex("log.level")).from = From::kFlag;
  draft_.origin(KeyIndex("log.level")).flag = "--log.level";
  EXPECT_THAT(Errors(), ElementsAre("--log.level: \"trace\" is not one of debug, info, warn, error"));
}

TEST_F(Validation, Choices_AreEnforcedWithTheNearest) {
  config_.log.level = "Infos";
  config_.log.format = "jsonn";
  config_.activity.source = "procf";
  config_.activity.counters = "on";
  config_.attribution = {.weights = "counter", .ratio = "true"};
  config_.cpu.preferred_meters = {"rapl", "hwmom"};
  config_.exporter.prometheus.debug_collectors = {"golang"};
  config_.kube.pod_informer.mode = "api";
  EXPECT_THAT(
      Errors(),
      ElementsAre(HasSubstr("log.level: \"Infos\" is not one of debug, info, warn, error; did you mean info"),
                  HasSubstr("log.format: \"jsonn\" is not one of text, json; did you mean json"),
                  HasSubstr("cpu.preferredMeters: \"hwmom\" is not one of rapl, hwmon, fake; did you mean hwmon"),
                  HasSubstr("activity.source: \"procf\" is not one of auto, bpf, procfs; did you mean procfs"),
                  HasSubstr("activity.counters: \"on\" is not one of off, hardware, software"),
                  HasSubstr("attribution.weights: \"counter\" is not one of cpu-time, counters; did you mean counters"),
                  HasSubstr("attribution.ratio: \"true\" is not one of proc-stat, exact"),
                  HasSubstr("debugCollectors: \"golang\" is not one of go, process"),
                  HasSubstr("kube.podInformer.mode: \"api\" is not one of kubelet, apiserver")));
}

TEST_F(Validation, NumbersBelowTheirBounds_AreRejected) {
  const Duration less = std::chrono::seconds(-5);
  config_.monitor = {.interval = less,
                     .staleness = less,
                     .max_terminated = -7,
                     .min_terminated_energy_threshold = -1,
                     .terminated_retention = less};
  config_.exporter.stdout_exporter.top = -1;
  config_.kube.pod_informer.poll_interval = less;
  config_.experimental.redfish.http_timeout = less;
  config_.experimental.gpu.idle_power = -0.5;
  EXPECT_THAT(Errors(),
              ElementsAre("monitor.interval: -5s is less than 0s", "monitor.staleness: -5s is less than 0s",
                          "monitor.minTerminatedEnergyThreshold: -1 joules is less than 0 joules",
                          "monitor.terminatedRetention: -5s is less than 0s", "exporter.stdout.top: -1 is less than 0",
                          "kube.podInformer.pollInterval: -5s is less than 0s",
                          "experimental.platform.redfish.httpTimeout: -5s is less than 0s",
                          "experimental.gpu.idlePower: -0.5 is less than 0 watts"));
}

TEST_F(Validation, NumbersAboveTheirBounds_AreRejected) {
  config_.monitor.interval = std::chrono::hours(25);
  config_.monitor.min_terminated_energy_threshold = 1'000'000'000'001;
  config_.experimental.gpu.idle_power = 1e7;
  EXPECT_THAT(Errors(),
              ElementsAre("monitor.interval: 25h is more than 24h", HasSubstr("is more than 1000000000000 joules"),
                          HasSubstr("is more than 1000000 watts")));
}

TEST_F(Validation, IntervalZero_IsFine_ButNotATinyOne) {
  config_.monitor.interval = Duration{0};
  EXPECT_THAT(Errors(), IsEmpty());
  config_.monitor.interval = Duration{1};
  EXPECT_THAT(Errors(), ElementsAre("monitor.interval: 1ns is neither 0 nor at least 10ms"));
}

TEST_F(Validation, EmptyListItem_IsRejectedWithItsLine) {
  config_.rapl.zones = {"core", ""};
  draft_.origin(KeyIndex("rapl.zones")) = {.from = From::kFile, .line = 2, .item_lines = {3, 4}, .flag = {}};
  EXPECT_THAT(Errors(), ElementsAre("k.yaml:4: rapl.zones: has an empty item"));
}

TEST_F(Validation, ProcfsThatIsMissingOrEmpty_IsAnError) {
  config_.host.procfs = tree_.Path("none");
  EXPECT_THAT(Errors(),
              ElementsAre("host.procfs: cannot read directory " + tree_.Path("none") + ": No such file or directory"));
}

TEST_F(Validation, EmptyProcfs_IsAnError) {
  tree_.MakeDir("empty");
  config_.host.procfs = tree_.Path("empty");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("is empty")));
}

TEST_F(Validation, SysfsThatIsMissing_IsAWarningByDefaultAndAnErrorIfGiven) {
  config_.host.sysfs = tree_.Path("none");
  EXPECT_THAT(Errors(), IsEmpty());
  EXPECT_THAT(draft_.warnings(), ElementsAre(HasSubstr("host.sysfs: cannot read directory")));
  GiveByFile("host.sysfs", 2);
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("k.yaml:2: host.sysfs: cannot read directory")));
}

TEST_F(Validation, WebConfigFile_MustBeReadableAndNotEmpty) {
  config_.web.config_file = tree_.Path("none");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("web.configFile: cannot read " + tree_.Path("none") + ": No such file")));
}

TEST_F(Validation, EmptyWebConfigFile_IsAnError) {
  tree_.Write("web", "");
  config_.web.config_file = tree_.Path("web");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("is empty")));
}

TEST_F(Validation, WebConfigFileThatIsAPipeOrADevice_IsCalledThat) {
  ASSERT_EQ(mkfifo(tree_.Path("pipe").c_str(), 0600), 0);
  for (const std::string& path : {tree_.Path("pipe"), std::string("/dev/null"), std::string("/dev/zero")}) {
    Draft draft{""};
    draft.config.host = config_.host;
    draft.config.web.config_file = path;
    Validate(draft);
    EXPECT_THAT(draft.errors(), ElementsAre("web.configFile: " + path + " is not a regular file"));
  }
}

TEST_F(Validation, GoodWebConfigFile_IsFine) {
  tree_.Write("web", "{}");
  config_.web.config_file = tree_.Path("web");
  EXPECT_THAT(Errors(), IsEmpty());
}

TEST_F(Validation, NoListenAddress_IsAnError) {
  config_.web.listen_addresses.clear();
  EXPECT_THAT(Errors(), ElementsAre("web.listenAddresses: needs at least one address"));
}

TEST_F(Validation, BadListenAddress_IsRejectedWithItsLine) {
  config_.web.listen_addresses = {":28282", ":0"};
  draft_.origin(KeyIndex("web.listenAddresses")) = {.from = From::kFile, .line = 2, .item_lines = {3, 4}, .flag = {}};
  EXPECT_THAT(Errors(),
              ElementsAre("k.yaml:4: web.listenAddresses: \":0\" is not an address to listen on: port \"0\" is "
                          "not a number from 1 to 65535"));
}

TEST_F(Validation, AddressListenedOnTwice_IsRejectedWithBothPlaces) {
  config_.web.listen_addresses = {":31020", ":28282", "127.0.0.1:31020"};
  draft_.origin(KeyIndex("web.listenAddresses")) = {
      .from = From::kFile, .line = 2, .item_lines = {3, 4, 5}, .flag = {}};
  EXPECT_THAT(Errors(), ElementsAre("k.yaml:5: web.listenAddresses: \"127.0.0.1:31020\" cannot be listened on together "
                                    "with \":31020\" (k.yaml:3: web.listenAddresses); remove one of them"));
}

TEST_F(Validation, SeveralPortsOrHosts_AreFine) {
  config_.web.listen_addresses = {":1", ":2", "127.0.0.1:3", "[::1]:3"};
  EXPECT_THAT(Errors(), IsEmpty());
}

TEST_F(Validation, KubeWithoutNodeName_IsAnError) {
  config_.kube.enabled = true;
  GiveByFile("kube.enabled", 2);
  EXPECT_THAT(Errors(),
              ElementsAre(HasSubstr("k.yaml:2: kube.enabled: needs the name of this node; set kube.nodeName")));
}

TEST_F(Validation, KubeConfig_IsCheckedWhereItIsUsedOrGivenByFlag) {
  config_.kube.config = tree_.Path("none");
  GiveByFile("kube.config", 1);
  EXPECT_THAT(Errors(), IsEmpty());
  draft_.origin(KeyIndex("kube.config")) = {.from = From::kFlag, .line = 0, .item_lines = {}, .flag = "--kube.config"};
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("--kube.config: cannot read")));
}

TEST_F(Validation, KubeConfigOfAnEnabledKube_MustBeReadable) {
  config_.kube = {.enabled = true, .config = tree_.Path("none"), .node_name = "n", .pod_informer = {}};
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("kube.config: cannot read")));
}

TEST_F(Validation, RedfishWithoutItsFile_IsAnError) {
  config_.experimental.redfish.enabled = true;
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("redfish.enabled: needs the BMC file")));
}

TEST_F(Validation, RedfishWithAMissingFile_IsAnError) {
  config_.experimental.redfish.enabled = true;
  config_.experimental.redfish.config_file = tree_.Path("none");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("redfish.configFile: cannot read")));
}

TEST_F(Validation, DcgmEndpoint_IsChecked) {
  config_.experimental.gpu.dcgm_endpoint = "ftp://x";
  EXPECT_THAT(Errors(), ElementsAre("experimental.gpu.dcgmEndpoint: must start with http:// or https://"));
}

TEST_F(Validation, DcgmEndpointWithCredentials_IsRefusedWithoutShowingThem) {
  for (const char* url :
       {"http://admin:secret@bmc:9400", "http://admin:secret/more@bmc:9400", "https://a:1/secret@b"}) {
    config_.experimental.gpu.dcgm_endpoint = url;
    EXPECT_EQ(Errors().back(), "experimental.gpu.dcgmEndpoint: must not contain credentials") << url;
  }
}

TEST(CheckListenAddress, GoodOnes_Pass) {
  for (const char* address :
       {":28282", "0.0.0.0:1", "localhost:65535", "[::1]:80", "[::]:80", "[fe80::1%eth0]:80", "a-b.c_d:9"})
    EXPECT_TRUE(CheckListenAddress(address)) << address;
}

TEST(CheckListenAddress, BadOnes_AreNamedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "port is missing"},        {"28282", "port is missing"},
      {"host", "port is missing"},    {":", "port \"\""},
      {":0", "from 1 to 65535"},      {":65536", "from 1 to 65535"},
      {":http", "from 1 to 65535"},   {":-1", "from 1 to 65535"},
      {":+1", "from 1 to 65535"},     {"::1:80", "stands in brackets"},
      {"[::1]", "port is missing"},   {"[::1", "\"]\" is missing"},
      {"[1.2.3.4]:1", "not an IPv6"}, {"[]:1", "not an IPv6"},
      {"a b:1", "not a host name"},   {"http://x:1", "in brackets"},
  };
  for (const auto& [address, reason] : cases) {
    const Status status = CheckListenAddress(address);
    ASSERT_FALSE(status) << address;
    EXPECT_THAT(status.error().message, HasSubstr(reason)) << address;
  }
}

TEST(CheckEndpoint, GoodOnes_Pass) {
  for (const char* url :
       {"http://localhost:9400", "https://dcgm.gpu/metrics", "HTTP://h", "http://[::1]:9400/x", "http://[::1]"})
    EXPECT_TRUE(CheckEndpoint(url)) << url;
}

TEST(CheckEndpoint, BadOnes_AreRejected) {
  for (const char* url :
       {"", "localhost:9400", "ftp://h", "http://", "http:///x", "http://u:p@h", "http://h?x", "http://h#x",
        "http://h\\x", "http://h:0", "http://h:x", "http://h:70000", "http://a:1:2", "http://[x]"})
    EXPECT_FALSE(CheckEndpoint(url)) << url;
}

TEST(Complete, ZeroPeriods_BecomeTheDefault) {
  Draft draft("");
  draft.config.kube.pod_informer.poll_interval = Duration{0};
  draft.config.experimental.redfish.http_timeout = Duration{0};
  Complete(draft, "host");
  EXPECT_EQ(draft.config.kube.pod_informer.poll_interval, std::chrono::seconds(15));
  EXPECT_EQ(draft.config.experimental.redfish.http_timeout, std::chrono::seconds(5));
}

TEST(Complete, NodeNames_FallBackInTurn) {
  Draft draft("");
  draft.config.experimental.redfish.enabled = true;
  Complete(draft, "host");
  EXPECT_EQ(draft.config.kube.node_name, "host");
  EXPECT_EQ(draft.config.experimental.redfish.node_name, "host");
}

TEST(Complete, GivenNodeNames_AreKept) {
  Draft draft("");
  draft.config.kube.node_name = "node";
  draft.config.experimental.redfish.enabled = true;
  Complete(draft, "host");
  EXPECT_EQ(draft.config.kube.node_name, "node");
  EXPECT_EQ(draft.config.experimental.redfish.node_name, "node");
}

TEST(Complete, DeprecatedKeys_SetTheMetersAndWarn) {
  Draft draft("k.yaml");
  draft.config.experimental.hwmon.force_enabled = true;
  Complete(draft, "host");
  EXPECT_THAT(draft.config.cpu.preferred_meters, ElementsAre("hwmon"));
  EXPECT_THAT(draft.warnings(), ElementsAre("experimental.hwmon.forceEnabled: deprecated; set cpu.preferredMeters to "
                                            "[hwmon] instead"));
}

TEST(Complete, FakeMeter_WinsOverForcedHwmon) {
  Draft draft("k.yaml");
  draft.config.experimental.hwmon.force_enabled = true;
  draft.config.fake_cpu_meter.enabled = true;
  Complete(draft, "host");
  EXPECT_THAT(draft.config.cpu.preferred_meters, ElementsAre("fake"));
  EXPECT_EQ(draft.warnings().size(), 2U);
}

TEST(TrimTexts, TextsAndListItems_LoseTheirSpaces) {
  Draft draft("");
  draft.config.log.level = " info\n";
  draft.config.web.listen_addresses = {" :1 ", ":2"};
  TrimTexts(draft);
  EXPECT_EQ(draft.config.log.level, "info");
  EXPECT_THAT(draft.config.web.listen_addresses, ElementsAre(":1", ":2"));
}

}  // namespace
}  // namespace kepler::config
