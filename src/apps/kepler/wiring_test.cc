#include "apps/kepler/wiring.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "apps/kepler/config.h"
#include "apps/kepler/model_wiring.h"
#include "apps/kepler/push_wiring.h"
#include "energy/hwmon/chip_rules.h"
#include "model/model_json.h"
#include "os/read_machine_info.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// What MakeMeters() says at --log.level=warn on a machine without a meter.
std::string WarningsWithoutMeter(std::vector<Meter> preferred) {
  const testing::FakeTree sys;
  const testing::FakeClock clock;
  Config config;
  config.host.sysfs = sys.root();
  config.preferred_meters = std::move(preferred);
  ::testing::internal::CaptureStdout();
  log::SetLevel(log::Level::kWarn);
  const auto meters =
      MakeMeters(config, clock, Shared{.proc_stat = std::make_shared<os::ProcStatReader>(config.host.procfs, clock)});
  log::SetLevel(log::Level::kInfo);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(meters);
  return log;
}

TEST(MakeMeters, NoMeterAtLogLevelWarn_TheLineHasTheCauseOfEach) {
  const std::string log = WarningsWithoutMeter({Meter::kRapl, Meter::kHwmon});
  EXPECT_THAT(log, HasSubstr("no energy meter is available"));
  EXPECT_THAT(log, HasSubstr("rapl: powercap: list "));
  EXPECT_THAT(log, HasSubstr("hwmon: list "));
}

TEST(MakeMeters, NoMeterIsPreferred_TheLineSaysSo) {
  EXPECT_THAT(WarningsWithoutMeter({}), HasSubstr("cpu.preferredMeters is empty"));
}

TEST(MakeLimits, NamesOfUsers_AreReadOnlyForTheirLevel) {
  Config config;
  EXPECT_FALSE(MakeLimits(config).names_users);
  config.metrics_level = {MetricsLevel::kNode, MetricsLevel::kUser};
  EXPECT_TRUE(MakeLimits(config).names_users);
}

TEST(MakePushers, Errors_BeginWithTheKey) {
  testing::FakeTree tree;
  tree.Write("text", "no PEM\n");
  tree.Write("token", "Authorization: Bearer t0k\n");
  const auto error = [](PushServer server) {
    Config config;
    server.enabled = true;
    config.otlp = server;
    const auto otlp = MakeOtlp(config, {}, nullptr);
    std::string message = otlp ? "(no error)" : otlp.error().message;
    const std::string key = message.substr(0, message.find(": "));
    EXPECT_TRUE(std::ranges::any_of(kTable.keys, [&](const settings::Key& each) { return each.path == key; })) << key;
    return key;
  };
  const std::string text = tree.Path("text");
  EXPECT_EQ(error({.endpoint = "ftp://h"}), "exporter.otlp.endpoint");
  EXPECT_EQ(error({.headers_file = "/nowhere/x"}), "exporter.otlp.headersFile");
  EXPECT_EQ(error({.headers_file = text}), "exporter.otlp.headersFile");
  EXPECT_EQ(error({.endpoint = "http://h", .headers_file = tree.Path("token")}), "exporter.otlp.headersFile");
  EXPECT_EQ(error({.endpoint = "https://h", .ca_file = "/nowhere/x"}), "exporter.otlp.tls.caFile");
  EXPECT_EQ(error({.endpoint = "https://h", .ca_file = text}), "exporter.otlp.tls.caFile");
  EXPECT_EQ(error({.endpoint = "https://h", .cert_file = text}), "exporter.otlp.tls.certFile");
}

TEST(MakePushers, InvalidHeaders_AreNamedWithFileAndLine) {
  testing::FakeTree tree;
  Config config;
  PushServer& remote_write = config.remote_write.server;
  config.otlp.enabled = remote_write.enabled = true;
  remote_write.endpoint = "http://h/push";
  config.otlp.headers_file = remote_write.headers_file = tree.Path("headers");
  const auto expect = [&](const std::string& section, const auto& made, const std::string& reason) {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message, section + ".headersFile: " + tree.Path("headers") + ": line 2: " + reason);
  };
  tree.Write("headers", "X-Scope-OrgID: a\nX Tenant: s3cret\n");
  const std::string invalid = "the name of a header contains an invalid character";
  expect("exporter.otlp", MakeOtlp(config, {}, nullptr), invalid);
  expect("exporter.remoteWrite", MakeRemoteWrite(config, {}, nullptr), invalid);
  tree.Write("headers", "X-Scope-OrgID: a\nTE: trailers\n");
  config.otlp_protocol = OtlpProtocol::kGrpc;
  expect("exporter.otlp", MakeOtlp(config, {}, nullptr), "gRPC does not allow the header TE");
}

TEST(PushDescriptors, QueueDirectoriesOfEnabledExporters_Count) {
  Config config;
  config.otlp.queue_directory = "/var/lib/kepler/queue";
  EXPECT_EQ(PushDescriptors(config), 0U);
  config.otlp.enabled = true;
  EXPECT_EQ(PushDescriptors(config), 6U);
  config.remote_write.server.enabled = true;
  config.json_lines.path = "/var/log/kepler.jsonl";
  EXPECT_EQ(PushDescriptors(config), 10U);
}

/// The names of the models that an agent has from the start.
class ModelsAtTheStart : public ::testing::Test {
 protected:
  ModelsAtTheStart() {
    for (const char* name : {"a", "b"}) {
      model::PowerModel power;
      power.name = name;
      power.features = {"cpu_cycles"};
      power.components.emplace_back().predictor.formula = model::Linear{.bias = 1, .weights = {1}};
      tree_.Write(std::string(name) + ".json", model::WriteModelJson(power));
    }
  }
  ~ModelsAtTheStart() override { unsetenv("MODEL_CONFIG"); }
  [[nodiscard]] std::string Names() const {
    const auto board = std::make_shared<model::ModelBoard>();
    const auto store = MakeModelStore(config_, std::make_shared<testing::FakeClock>(), board, {});
    if (!store) return store.error().message;
    if (*store && !(*store)->Start(std::chrono::minutes(10))) return "not started";
    std::string names;
    for (const auto& known : *board->Latest()) names += known->model.name;
    return names;
  }

  testing::FakeTree tree_;
  Config config_;
};

TEST_F(ModelsAtTheStart, AreThoseOfModelSources_ElseOfModelConfig) {
  setenv("MODEL_CONFIG", ("NODE_TOTAL_INIT_URL=file://" + tree_.Path("a.json") + " MORE=1").c_str(), 1);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Names(), "a");
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("unknown key MORE"));
  config_.model_sources = {tree_.Path("b.json")};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Names(), "b");
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("MODEL_CONFIG is ignored"));
  config_.model_sources = {tree_.root()};
  unsetenv("MODEL_CONFIG");
  EXPECT_EQ(Names(), "ab");
}

TEST_F(ModelsAtTheStart, NamesOfTheModelServerAreReadOrNamed) {
  setenv("MODEL_SERVER_ENABLE", "true", 1);
  setenv("MODEL_SERVER_URL", "http://127.0.0.1:1", 1);
  const auto log = [&] {
    ::testing::internal::CaptureStdout();
    const auto store =
        MakeModelStore(config_, std::make_shared<testing::FakeClock>(), std::make_shared<model::ModelBoard>(), {});
    EXPECT_TRUE(store);
    return ::testing::internal::GetCapturedStdout() + (*store && (*store)->status().last_fetch ? "asks" : "");
  };
  const std::string used = log();
  EXPECT_THAT(used, HasSubstr("is used\" name=MODEL_SERVER_URL"));
  EXPECT_TRUE(used.ends_with("asks"));
  config_.model_server = "http://127.0.0.1:2";
  const std::string ignored = log();
  EXPECT_THAT(ignored, HasSubstr("is ignored\" name=MODEL_SERVER_URL reason=\"model.server is set\""));
  EXPECT_TRUE(ignored.ends_with("asks"));
  config_.model_server.clear();
  setenv("MODEL_SERVER_URL", "ftp://a", 1);
  const std::string wrong = log();
  EXPECT_THAT(wrong, HasSubstr("is ignored\" name=MODEL_SERVER_URL"));
  EXPECT_THAT(wrong, Not(HasSubstr("is used")));
  EXPECT_FALSE(wrong.ends_with("asks"));
  unsetenv("MODEL_SERVER_ENABLE");
  EXPECT_THAT(log(), HasSubstr("MODEL_SERVER_ENABLE is not set"));
  unsetenv("MODEL_SERVER_URL");
  EXPECT_EQ(log(), "");
}

TEST_F(ModelsAtTheStart, MeterIsRequired_ThereAreNone) {
  config_.model_sources = {tree_.root()};
  config_.require_meter = true;
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Names(), "");
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("model.sources is ignored because meter.require"));
}

TEST_F(ModelsAtTheStart, MeterIsRequiredAndModelsSplit_ThereAreSome) {
  config_.model_sources = {tree_.root()};
  config_.require_meter = true;
  config_.split.weights = pipeline::CpuWeights::kModel;
  EXPECT_EQ(Names(), "ab");
}

/// Tests which zones there are, and their source.
class Zones : public ::testing::Test {
 protected:
  Zones() {
    proc_.Write("stat", "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4\n");
    proc_.Write("cpuinfo", "processor\t: 0\nflags\t\t: fpu\n");
    config_.host = {.sysfs = sys_.root(), .procfs = proc_.root()};
    config_.preferred_meters = {Meter::kFake};
  }
  Result<std::unique_ptr<energy::MeterSet>> Make() {
    return MakeMeters(config_, clock_,
                      Shared{.proc_stat = std::make_shared<os::ProcStatReader>(proc_.root(), clock_),
                             .machine = model::SpecOf(os::ReadMachineInfo(proc_.root(), sys_.root()))});
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto meters = Make();
    EXPECT_TRUE(meters);
    for (const auto& zone : meters.value()->zones()) names.push_back(zone.source + ":" + zone.name);
    return names;
  }
  testing::FakeTree proc_, sys_;
  testing::FakeClock clock_;
  Config config_;
};

TEST_F(Zones, NoMeter_AllAreEstimated) {
  config_.preferred_meters = {};
  EXPECT_THAT(Names(), ElementsAre("model:package", "model:dram", "model:platform"));
  config_.model_platform = false;
  EXPECT_THAT(Names(), ElementsAre("model:package", "model:dram"));
}

TEST_F(Zones, MeterOfTheProcessors_TheWholeIsEstimatedToo) {
  EXPECT_THAT(Names(), ElementsAre("fake:package", "fake:core", "fake:dram", "model:platform"));
  config_.model_platform = false;
  EXPECT_THAT(Names(), ElementsAre("fake:package", "fake:core", "fake:dram"));
}

TEST_F(Zones, MeterOfTheWhole_OrOfNoPackage_NothingIsEstimated) {
  config_.fake_zones = {"package", "psys"};
  EXPECT_THAT(Names(), ElementsAre("fake:package", "fake:psys"));
  config_.fake_zones = {"dram"};
  EXPECT_THAT(Names(), ElementsAre("fake:dram"));
}

/// Registers of RAPL that read 0 for ever, as in many a guest.
class DeadRapl : public Zones {
 protected:
  DeadRapl() {
    config_.preferred_meters = {Meter::kRapl};
    sys_.Write("class/powercap/intel-rapl:0/name", "package-0");
    sys_.Write("class/powercap/intel-rapl:0/energy_uj", "0");
    sys_.Write("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850");
  }
  std::vector<std::string> AfterAMinute() {
    const auto meters = Make();
    EXPECT_TRUE(meters);
    for (int i = 0; i < 14; ++i) {
      clock_.Advance(std::chrono::seconds(5));
      proc_.Write("stat", fmt::format("cpu  {} 2 3 4 5 6 7 8\ncpu0 1 2 3 4\n", 100 * i));
      meters.value()->Sample();
    }
    std::vector<std::string> names;
    for (const auto& zone : meters.value()->zones()) names.push_back(zone.source + ":" + zone.name);
    up_ = std::ranges::all_of(meters.value()->status(), &status::SourceStatus::up);
    return names;
  }
  bool up_ = false;
};

TEST_F(DeadRapl, InAGuest_TheEstimateTakesOver_AndSaysThatItIsOfLoad) {
  proc_.Write("cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");
  EXPECT_THAT(Names(), ElementsAre("rapl:package")) << "which may be real";
  ::testing::internal::CaptureStdout();
  EXPECT_THAT(AfterAMinute(), ElementsAre("model:package", "model:dram", "model:platform"));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("without idle power, because this is a virtual machine"));
  EXPECT_TRUE(up_);
}

TEST_F(DeadRapl, OfTheWholeMachine_ItIsEstimatedOnceTheModelHasTakenOver) {
  sys_.Write("class/powercap/intel-rapl:0/name", "psys");
  EXPECT_THAT(Names(), ElementsAre("rapl:psys"));
  EXPECT_THAT(AfterAMinute(), ElementsAre("model:package", "model:dram", "model:platform"));
}

TEST_F(Zones, GuestWithAMeterThatMoves_TheWholeIsEstimatedTooWithItsIdlePower) {
  proc_.Write("cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");
  const auto meters = Make().value();
  std::vector<status::EstimateStatus> estimates;
  for (int tick = 0; tick < 3; ++tick) {
    clock_.Advance(std::chrono::seconds(1));
    meters->Sample();
  }
  std::vector<std::string> names;
  for (const auto& zone : meters->zones()) names.push_back(zone.source + ":" + zone.name);
  EXPECT_THAT(names, ElementsAre("fake:package", "fake:core", "fake:dram", "model:platform"));
  meters->ReadEstimates(estimates);
  ASSERT_EQ(estimates.size(), 1U);
  EXPECT_FALSE(estimates.at(0).models->at(0).only_load);
}

TEST_F(Zones, MeterIsRequired_NothingIsEstimated) {
  config_.require_meter = true;
  EXPECT_THAT(Names(), ElementsAre("fake:package", "fake:core", "fake:dram"));
  config_.preferred_meters = {Meter::kRapl};
  const auto none = Make();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("--meter.require"));
}

TEST_F(Zones, VirtualMachine_OnlyItsLoadIsEstimated_UnlessItIsToPayForIdle) {
  config_.preferred_meters = {};
  const auto only_load = [&] {
    std::vector<status::EstimateStatus> estimates;
    Make().value()->ReadEstimates(estimates);
    return estimates.at(0).models->at(0).only_load && estimates.at(1).models->at(0).only_load;
  };
  EXPECT_FALSE(only_load());
  proc_.Write("cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");
  EXPECT_TRUE(only_load());
  config_.model_guest_idle = true;
  EXPECT_FALSE(only_load());
}

/// The words of the table are held to the meters.
TEST(Schema, HelpOfTheChips_NamesTheBuiltInList) {
  const std::string_view help = settings::KeyAt(kTable.keys, "experimental.hwmon.chips").help;
  std::string list;
  for (const std::string_view chip : energy::hwmon::CpuChips()) list += std::string(chip) + ", ";
  list += "and all chips whose names begin with ";
  std::string families;
  for (const std::string_view family : energy::hwmon::CpuChipFamilies())
    families += (families.empty() ? "" : ", ") + std::string(family);
  EXPECT_THAT(help, HasSubstr("Empty: " + list + families));
}

}  // namespace
}  // namespace kepler::agent
