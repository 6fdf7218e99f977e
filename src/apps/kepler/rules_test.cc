#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "apps/kepler/config_test_util.h"

namespace kepler::agent {
namespace {

using settings::From;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Validation, Defaults_AreValid) { EXPECT_THAT(Errors(), IsEmpty()); }

TEST_F(Validation, OffendingValue_IsBlamedWhereItCameFrom) {
  config_.stdout_top = -1;
  EXPECT_EQ(draft_.Where("exporter.stdout.top"), "exporter.stdout.top");
  draft_.GiveByFile("exporter.stdout.top", 3);
  EXPECT_EQ(draft_.Where("exporter.stdout.top"), "k.yaml:3: exporter.stdout.top");
  draft_.origin("exporter.stdout.top") = {.from = From::kFlag, .flag = "--exporter.stdout.top"};
  EXPECT_THAT(Errors(), ElementsAre("--exporter.stdout.top: -1 is less than 0"));
}

TEST_F(Validation, Choices_AreEnforcedWithTheNearest) {
  draft_.LoadYaml(R"(
attribution: {ratio: "true", weights: counter}
log: {level: Infos, format: jsonn}
activity: {source: procf, counters: "on"}
cpu:
  preferredMeters: [rapl,
                    hwmom]
exporter: {prometheus: {debugCollectors: [golang]}}
kube: {podInformer: {mode: api}}
)");
  EXPECT_THAT(draft_.errors(), IsEmpty());  // flags may follow
  EXPECT_THAT(
      Errors(),
      ElementsAre(
          HasSubstr("log.level: \"Infos\" is not one of debug, info, warn, error; did you mean info?"),
          HasSubstr("log.format: \"jsonn\" is not one of text, json; did you mean json?"),
          "k.yaml:7: cpu.preferredMeters: \"hwmom\" is not one of rapl, hwmon, fake; did you mean hwmon?",
          HasSubstr("activity.source: \"procf\" is not one of auto, bpf, procfs; did you mean procfs?"),
          HasSubstr("activity.counters: \"on\" is not one of off, hardware"),
          HasSubstr("attribution.weights: \"counter\" is not one of cpu-time, counters, model; did you mean counters?"),
          HasSubstr("attribution.ratio: \"true\" is not one of proc-stat, exact"),
          HasSubstr("debugCollectors: \"golang\" is not one of go, process"),
          HasSubstr("kube.podInformer.mode: \"api\" is not one of auto, kubelet, apiserver")));
}

TEST_F(Validation, PlacesOfModels_AreCheckedInForm) {
  draft_.LoadYaml(
      "model:\n  refresh: 59s\n  sources:\n    - /not/there\n    - ftp://h/a.json\n    - https://me:s3cret@h/\n");
  EXPECT_THAT(Errors(),
              ElementsAre("k.yaml:2: model.refresh: 59s is less than 1m",
                          "k.yaml:5: model.sources: \"ftp://h/a.json\" is neither a path nor an http or https URL",
                          HasSubstr("k.yaml:6: model.sources: item 3 contains a user name or password")));
}

TEST_F(Validation, PlacesOfModels_AreGivenOnce_AsWholePaths) {
  draft_.LoadYaml(
      "model:\n  sources:\n    - /models\n    - models/a.json\n    - file:///models/#power=DynPower\n"
      "    - /a.json#sha265=0\n");
  EXPECT_THAT(
      Errors(),
      ElementsAre("k.yaml:4: model.sources: \"models/a.json\" is a relative path; write an absolute path",
                  "k.yaml:5: model.sources: \"file:///models/\" is the same place as item 1; remove one of them",
                  HasSubstr("k.yaml:6: model.sources: \"/a.json\" has an unknown or repeated option after #")));
}

TEST_F(Validation, PlacesOfModels_AreNotTooMany) {
  for (int i = 0; i < 16; ++i) config_.model_sources.push_back("/models/" + std::to_string(i));
  EXPECT_THAT(Errors(), IsEmpty());
  config_.model_sources.emplace_back("/models/more");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("model.sources: has 17 places; the maximum is 16")));
}

TEST_F(Validation, EmptyPlaceOfModels_HasOneError) {
  config_.model_sources = {"", "/models", "models"};
  EXPECT_THAT(Errors(), ElementsAre("model.sources: has an empty item",
                                    "model.sources: \"models\" is a relative path; write an absolute path"));
}

TEST_F(Validation, CacheOfModels_IsAnAbsolutePath) {
  config_.model_cache_dir = "";
  EXPECT_THAT(Errors(), IsEmpty());
  config_.model_cache_dir = "models";
  EXPECT_THAT(Errors(), ElementsAre("model.cacheDir: is a relative path; write an absolute path"));
}

TEST_F(Validation, ServerOfModels_IsAnEndpoint) {
  config_.model_server = "http://models:8100";
  EXPECT_THAT(Errors(), IsEmpty());
  config_.model_server = "models:8100";
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("model.server: ")));
}

TEST_F(Validation, LoginOfModels_NeedsAPasswordAndTls) {
  config_.model_server = "https://models:8100";
  config_.model_server_user = "alice";
  config_.model_server_password_file = "/proc/self/status";
  EXPECT_THAT(Errors(), IsEmpty());
  config_.model_server = "http://models:8100";
  config_.model_server_password_file = "";
  EXPECT_THAT(Errors(),
              ElementsAre(HasSubstr("model.serverPasswordFile: is missing"), HasSubstr("model.server: must")));
}

TEST_F(Validation, PasswordOfModels_NeedsAUserAndAFile) {
  config_.model_server_password_file = "/nowhere";
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("model.serverUser: is missing"),
                                    HasSubstr("model.serverPasswordFile: cannot read /nowhere")));
}

TEST_F(Validation, UserOfModels_HasNoColon) {
  config_.model_server_user = "a:b";
  config_.model_server_password_file = "/proc/self/status";
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("model.serverUser: must not contain a colon")));
}

TEST_F(Validation, KeyOfModels_MustBeOne) {
  tree_.Write("no.pem", "no");
  draft_.LoadYaml("model:\n  publicKey: " + tree_.Path("no.pem") + "\n");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("k.yaml:2: model.publicKey: " + tree_.Path("no.pem") +
                                              ": it is not a public key in PEM")));
}

TEST_F(Validation, NumbersBelowTheirBounds_AreRejected) {
  const Duration less = std::chrono::seconds(-5);
  config_.freshness = {.interval = less, .staleness = less};
  config_.min_terminated_joules = -1;
  config_.max_terminated = -7;
  config_.terminated_retention = less;
  config_.stdout_top = -1;
  config_.informer_poll_interval = less;
  config_.redfish_http_timeout = less;
  config_.gpu_idle_power = -0.5;
  EXPECT_THAT(Errors(),
              ElementsAre("monitor.interval: -5s is less than 0s", "monitor.staleness: -5s is less than 0s",
                          "monitor.minTerminatedEnergyThreshold: -1 joules is less than 0 joules",
                          "monitor.terminatedRetention: -5s is less than 0s", "exporter.stdout.top: -1 is less than 0",
                          "kube.podInformer.pollInterval: -5s is less than 0s",
                          "experimental.platform.redfish.httpTimeout: -5s is less than 0s",
                          "experimental.gpu.idlePower: -0.5 is less than 0 watts"));
}

TEST_F(Validation, NumbersAboveTheirBounds_AreRejected) {
  config_.freshness.interval = std::chrono::hours(25);
  config_.min_terminated_joules = 1'000'000'000'001;
  config_.gpu_idle_power = 1e7;
  EXPECT_THAT(Errors(),
              ElementsAre("monitor.interval: 25h is more than 24h", HasSubstr("is more than 1000000000000 joules"),
                          HasSubstr("is more than 1000000 watts")));
}

TEST_F(Validation, IntervalZero_IsFine_ButNotATinyOne) {
  config_.freshness.interval = Duration{0};
  EXPECT_THAT(Errors(), IsEmpty());
  config_.freshness.interval = Duration{1};
  EXPECT_THAT(Errors(), ElementsAre("monitor.interval: 1ns is neither 0 nor at least 10ms"));
}

TEST_F(Validation, EmptyListItem_IsRejectedWithItsLine) {
  config_.rapl.zones = {"core", ""};
  draft_.GiveByFile("rapl.zones", 2, {3, 4});
  EXPECT_THAT(Errors(), ElementsAre("k.yaml:4: rapl.zones: has an empty item"));
}

TEST_F(Validation, ProcfsThatIsMissingOrEmpty_IsAnError) {
  config_.host.procfs = tree_.Path("none");
  EXPECT_THAT(Errors(),
              ElementsAre("host.procfs: cannot read directory " + tree_.Path("none") + ": No such file or directory"));
}

TEST_F(Validation, ProcfsWithoutAPath_IsAnError) {
  config_.host.procfs.clear();
  EXPECT_THAT(Errors(), ElementsAre("host.procfs: is empty"));
}

TEST_F(Validation, EmptyProcfs_IsAnError) {
  tree_.MakeDir("empty");
  config_.host.procfs = tree_.Path("empty");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("is empty")));
}

TEST_F(Validation, DirectoryThatIsNoProcfs_IsAnErrorThatSaysSo) {
  tree_.Write("etc/passwd", "x");
  config_.host.procfs = tree_.Path("etc");
  draft_.GiveByFile("host.procfs", 2);
  EXPECT_THAT(Errors(),
              ElementsAre("k.yaml:2: host.procfs: " + tree_.Path("etc") + " is no proc file system: cannot read " +
                          tree_.Path("etc/stat") +
                          ": No such file or directory; set the directory where the host's /proc is mounted"));
  tree_.Write("self/stat", "1 (x) R");
  ConfigDraft process;
  process.config.host = {.sysfs = config_.host.sysfs, .procfs = tree_.Path("self")};
  process.GiveByFile("host.procfs", 2);
  CheckRules(process, process.config);
  EXPECT_THAT(process.errors(), ElementsAre(HasSubstr("self/stat does not begin with \"cpu\"")));
}

/// Mounts `directory` at /proc in a mount namespace of this process. False without the right to do so.
bool MountAtProc(const std::string& directory) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(directory.c_str(), "/proc", nullptr, MS_BIND, nullptr) == 0;
}

TEST_F(Validation, DefaultProcfsWithoutStat_IsValid_GivenInTheFileOrNot) {
  tree_.Write("subset/1/stat", "1 (init) S");  // as with ProcSubset=pid
  enum : int { kValid, kInvalid, kNotMounted };
  for (const bool given : {false, true}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (!MountAtProc(tree_.Path("subset"))) ::_exit(kNotMounted);
      config_.host.procfs = "/proc";
      if (given) draft_.GiveByFile("host.procfs", 2);
      ::_exit(Errors().empty() ? kValid : kInvalid);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNotMounted) GTEST_SKIP() << "needs the right to mount";
    EXPECT_EQ(WEXITSTATUS(status), kValid) << "given: " << given;
  }
}

TEST_F(Validation, SysfsThatIsMissing_IsAWarningByDefaultAndAnErrorIfGiven) {
  config_.host.sysfs = tree_.Path("none");
  EXPECT_THAT(Errors(), IsEmpty());
  EXPECT_THAT(draft_.warnings(), ElementsAre(HasSubstr("host.sysfs: cannot read directory")));
  draft_.GiveByFile("host.sysfs", 2);
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("k.yaml:2: host.sysfs: cannot read directory")));
}

TEST_F(Validation, WebConfigFile_MustBeReadableAndNotEmpty) {
  config_.web_config_file = tree_.Path("none");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("web.configFile: cannot read " + tree_.Path("none") + ": No such file")));
}

TEST_F(Validation, EmptyWebConfigFile_IsAnError) {
  tree_.Write("web", "");
  config_.web_config_file = tree_.Path("web");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("is empty")));
}

TEST_F(Validation, WebConfigFileThatIsAPipeOrADevice_IsCalledThat) {
  ASSERT_EQ(mkfifo(tree_.Path("pipe").c_str(), 0600), 0);
  for (const std::string& path : {tree_.Path("pipe"), std::string("/dev/null"), std::string("/dev/zero")}) {
    ConfigDraft draft;
    draft.config.host = config_.host;
    draft.config.web_config_file = path;
    CheckRules(draft, draft.config);
    EXPECT_THAT(draft.errors(), ElementsAre("web.configFile: " + path + " is not a regular file"));
  }
}

TEST_F(Validation, GoodWebConfigFile_IsFine) {
  tree_.Write("web", "{}");
  config_.web_config_file = tree_.Path("web");
  EXPECT_THAT(Errors(), IsEmpty());
}

TEST_F(Validation, NoListenAddress_IsAnError) {
  config_.listen_addresses.clear();
  EXPECT_THAT(Errors(), ElementsAre("web.listenAddresses: needs at least one address"));
}

TEST_F(Validation, BadListenAddress_IsRejectedWithItsLine) {
  config_.listen_addresses = {":28282", ":0"};
  draft_.GiveByFile("web.listenAddresses", 2, {3, 4});
  EXPECT_THAT(Errors(), ElementsAre("k.yaml:4: web.listenAddresses: \":0\" is not a listen address: port \"0\" is "
                                    "not a number from 1 to 65535"));
}

TEST_F(Validation, AddressListenedOnTwice_IsRejectedWithBothPlaces) {
  config_.listen_addresses = {":31020", ":28282", "127.0.0.1:31020"};
  draft_.GiveByFile("web.listenAddresses", 2, {3, 4, 5});
  EXPECT_THAT(Errors(), ElementsAre("k.yaml:5: web.listenAddresses: \"127.0.0.1:31020\" cannot be listened on together "
                                    "with \":31020\" (k.yaml:3: web.listenAddresses); remove one of them"));
}

TEST_F(Validation, SeveralPortsOrHosts_AreFine) {
  config_.listen_addresses = {":1", ":2", "127.0.0.1:3", "[::1]:3"};
  EXPECT_THAT(Errors(), IsEmpty());
}

TEST_F(Validation, RedfishWithoutItsFile_IsAnError) {
  config_.redfish_enabled = true;
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("redfish.enabled: needs the BMC file")));
}

TEST_F(Validation, RedfishThatIsNotPreferred_IsAWarning) {
  tree_.Write("bmc.yaml", "nodes: {}\n");
  config_.redfish_enabled = true;
  config_.redfish_config_file = tree_.Path("bmc.yaml");
  EXPECT_THAT(Errors(), IsEmpty());
  EXPECT_THAT(draft_.warnings(), IsEmpty());
  config_.platform_meters = {PlatformKind::kAcpi};
  EXPECT_THAT(Errors(), IsEmpty());
  EXPECT_THAT(draft_.warnings(), ElementsAre(HasSubstr("platform.preferredMeters lacks redfish")));
}

TEST_F(Validation, RedfishWithAMissingFile_IsAnError) {
  config_.redfish_enabled = true;
  config_.redfish_config_file = tree_.Path("none");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("redfish.configFile: cannot read")));
}

TEST_F(Validation, DcgmEndpoint_IsChecked) {
  config_.gpu_dcgm_endpoint = "ftp://x";
  EXPECT_THAT(Errors(), ElementsAre("experimental.gpu.dcgmEndpoint: must start with http:// or https://"));
}

TEST_F(Validation, DcgmEndpointWithCredentials_IsRefusedWithoutShowingThem) {
  for (const char* url :
       {"http://admin:secret@bmc:9400", "http://admin:secret/more@bmc:9400", "https://a:1/secret@b"}) {
    config_.gpu_dcgm_endpoint = url;
    EXPECT_EQ(Errors().back(), "experimental.gpu.dcgmEndpoint: must not contain credentials") << url;
  }
}

}  // namespace
}  // namespace kepler::agent
