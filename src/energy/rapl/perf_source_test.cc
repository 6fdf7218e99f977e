#include "energy/rapl/perf_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "energy/rapl/metered_source_test_util.h"
#include "energy/rapl/perf_test_util.h"

namespace kepler::energy::rapl {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kCores = 1;  // config values
constexpr uint64_t kPkg = 2;
constexpr uint64_t kRam = 3;

class PerfSourceTest : public MeteredSourceTest {
 protected:
  PerfSourceTest() {
    machine_.Online("0-3");
    for (const uint32_t cpu : {0U, 1U, 2U, 3U}) machine_.Cpu(cpu, cpu / 2);
    machine_.Pmu("0,2", {{"pkg", 2}, {"ram", 3}});
    for (const uint32_t cpu : {0U, 1U, 2U, 3U}) Package(cpu, 1'000);
  }
  /// Joules of package and DRAM.
  void Package(uint32_t cpu, uint64_t joules) {
    machine_.Count(cpu, kPkg, joules * kPerfJoule);
    machine_.Count(cpu, kRam, joules * kPerfJoule / 4);
  }
  std::unique_ptr<PerfSource> Make(const std::vector<std::string>& zones = {}) {
    return std::make_unique<PerfSource>(tree_.root(), zones, machine_.opener(), clock_);
  }
  void StartMeter(const std::vector<std::string>& zones = {}) { Start(Make(zones)); }

  PerfMachine machine_{tree_};
};

TEST_F(PerfSourceTest, Discover_TwoSockets_DomainsAsInPowercapWithoutARange) {
  const auto domains = Make()->Discover();
  ASSERT_THAT(Keys(domains), ElementsAre("package@0", "dram@0", "package@1", "dram@1"));
  EXPECT_EQ((*domains)[3].path, tree_.Path("class/powercap/intel-rapl:1:0"));
  EXPECT_FALSE((*domains)[0].range);
  EXPECT_TRUE((*domains)[0].is_summed);
  EXPECT_EQ((*domains)[0].resolution.joules, 2.3283064365386962890625e-10);
}

TEST_F(PerfSourceTest, Discover_ClientChip_HasAllFiveZones) {
  machine_.Pmu("0", {{"cores", 1}, {"pkg", 2}, {"ram", 3}, {"gpu", 4}, {"psys", 5}});
  for (const uint64_t config : {kCores, uint64_t{4}, uint64_t{5}}) machine_.Count(0, config, 1);
  EXPECT_THAT(Keys(Make()->Discover()), ElementsAre("package@0", "core@0", "uncore@0", "dram@0", "psys@-"));
  EXPECT_THAT(Keys(Make({"Core"})->Discover()), ElementsAre("core@0"));
  const auto none = Make({"nic"})->Discover();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(none.error().message, HasSubstr("available: core, dram, package, psys, uncore"));
}

/// Linux before 6.13 lists a CPU of each die on AMD too, where the counter covers the socket.
TEST_F(PerfSourceTest, Discover_Dies_AddUpOnIntelAndAreOneOnAmd) {
  machine_.Cpu(1, 0, 1);
  machine_.Cpumask("0-2");
  EXPECT_THAT(Keys(Make({"package"})->Discover()), ElementsAre("package@0.0", "package@0.1", "package@1.0"));
  tree_.Write("devices/system/cpu/modalias", "cpu:type:x86,ven0002fam0017mod0001:feature:,0000\n");
  EXPECT_THAT(Keys(Make({"package"})->Discover()), ElementsAre("package@0", "package@1"));
}

TEST_F(PerfSourceTest, Discover_ContainerWithoutSysBus_FindsTheDevice) {
  std::filesystem::rename(tree_.Path("bus/event_source/devices/power"), tree_.Path("devices/power"));
  EXPECT_THAT(Keys(Make()->Discover()), ElementsAre("package@0", "dram@0", "package@1", "dram@1"));
}

TEST_F(PerfSourceTest, Discover_NoPermission_NamesTheCapability) {
  machine_.refusal = Error{ErrorKind::kPermission, "open perf event 0x2: Permission denied"};
  const auto refused = Make()->Discover();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kPermission);
  EXPECT_THAT(refused.error().message,
              HasSubstr("energy-pkg: open perf event 0x2: Permission denied; grant CAP_PERFMON"));
}

TEST_F(PerfSourceTest, Discover_EventThatCannotBeOpened_CostsItsZone) {
  for (const uint32_t cpu : {0U, 2U}) tree_.Remove(PerfMachine::File(cpu, kRam));
  EXPECT_THAT(Keys(Make()->Discover()), ElementsAre("package@0", "package@1"));
}

TEST_F(PerfSourceTest, Discover_MalformedFiles_CostTheirEvent) {
  const std::string event = PerfMachine::kPmu + "events/energy-ram";
  for (const auto& [file, text] : {std::pair{event, "config=0x3\n"},
                                   {event, ""},
                                   {event + ".scale", "0\n"},
                                   {event + ".scale", ""},
                                   {event + ".unit", "Watts\n"}}) {
    machine_.Pmu("0,2", {{"pkg", 2}, {"ram", 3}});
    tree_.Write(file, text);
    EXPECT_THAT(Keys(Make()->Discover()), ElementsAre("package@0", "package@1")) << file << text;
  }
  tree_.Remove(event + ".scale");
  tree_.Write(PerfMachine::kPmu + "events/energy-pkg", "x\n");
  EXPECT_THAT(Make()->Discover().error().message, HasSubstr("no usable energy event in " + tree_.root()));
}

TEST_F(PerfSourceTest, Discover_PmuIsIncomplete_SaysWhatIsWrong) {
  for (const char* list : {"", "x", "9"}) {
    machine_.Cpumask(list);
    EXPECT_THAT(Make()->Discover().error().message, HasSubstr("/cpumask")) << list;
  }
  tree_.Write(PerfMachine::kPmu + "type", "power\n");
  EXPECT_EQ(Make()->Discover().error().kind, ErrorKind::kMalformed);
}

TEST_F(PerfSourceTest, Read_FractionsOfAMicrojoule_AddUpExactly) {
  StartMeter({"package"});
  constexpr uint64_t kStep = 4'295'000;  // counts: 1000.0076 uJ
  int64_t sum = 0;
  for (uint64_t i = 1; i <= 1'000; ++i) {
    machine_.Count(0, kPkg, 1'000 * kPerfJoule + i * kStep);
    After(1s);
    sum += Uj(0);
  }
  EXPECT_EQ(sum, static_cast<int64_t>(1'000 * kStep * 1'000'000 / kPerfJoule));
}

TEST_F(PerfSourceTest, IntervalOfADay_LosesNothingAndNeverWraps) {
  StartMeter({"package"});
  EXPECT_FALSE(meter_->longest_interval());
  Package(0, 1'000 + 17'280'000);  // 200 W
  After(24h);
  EXPECT_EQ(Uj(0), 17'280'000'000'000);
  EXPECT_EQ(meter_->status().unknown_wraps, 0u);
}

TEST_F(PerfSourceTest, KernelCountWraps_EnergyIsExact) {
  StartMeter({"package"});
  const auto count = [this](uint64_t since_open) { machine_.Count(0, kPkg, 1'000 * kPerfJoule + since_open); };
  for (uint64_t i = 1; i <= 3; ++i) {
    count(i * (uint64_t{1} << 62));
    After(365 * 24h);
  }
  count(3 * (uint64_t{1} << 62) + (uint64_t{1} << 62) - kPerfJoule);
  After(365 * 24h);
  count(kPerfJoule);
  After(5s);
  EXPECT_EQ(Uj(0), 2'000'000);
  count(0);
  After(5s);
  EXPECT_EQ(Uj(0), 0) << "a step back is no energy";
}

TEST_F(PerfSourceTest, CpuGoesOffline_AnotherOfItsPackageCountsOn) {
  StartMeter({"package"});
  Package(0, 1'005);
  machine_.Cpumask("1,2");  // the kernel has moved the open event
  machine_.Online("1-3");
  After(10s);
  EXPECT_EQ(Uj(0), 5'000'000);
  Package(1, 1'003);
  After(5s);
  EXPECT_EQ(Uj(0), 3'000'000);
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(PerfSourceTest, SocketGoesOfflineAndReturns_ItsEventsAreOpenedAgain) {
  StartMeter({"package"});
  machine_.EndEvents(2);
  machine_.Cpumask("0");
  machine_.Online("0-1");
  for (const int cpu : {2, 3}) tree_.Remove("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology");
  Package(0, 1'001);
  After(10s);
  EXPECT_EQ(Uj(0), 1'000'000);
  EXPECT_TRUE(meter_->deltas()[0].fresh);
  EXPECT_EQ(meter_->deltas()[0].domains.read, 1u);
  machine_.Cpumask("0,2");
  machine_.Online("0-3");
  for (const uint32_t cpu : {2U, 3U}) machine_.Cpu(cpu, 1);
  After(10s);  // opened
  for (const uint32_t cpu : {0U, 2U}) Package(cpu, 1'003);
  After(5s);
  EXPECT_EQ(Uj(0), 5'000'000);
  EXPECT_EQ(meter_->deltas()[0].domains.read, 2u);
  EXPECT_EQ(meter_->status().resets, 0u);
}

TEST_F(PerfSourceTest, SocketWasOfflineForAMoment_ItsStoppedEventsAreOpenedAgain) {
  StartMeter();
  uint64_t joules = 1'000;
  const auto work = [&] {
    for (const uint32_t cpu : {0U, 2U}) Package(cpu, joules);
    joules += 4;
    After(1s);
  };
  for (int i = 0; i < 3; ++i) work();
  EXPECT_EQ(Uj(0), 8'000'000);
  machine_.EndEvents(2);
  for (int i = 0; i < 2; ++i) work();
  EXPECT_EQ(Uj(0), 4'000'000);
  work();
  EXPECT_FALSE(meter_->deltas()[0].fresh) << "it has stopped";
  work();
  work();
  EXPECT_EQ(Uj(0), 8'000'000);
  EXPECT_EQ(Uj(1), 2'000'000);
  EXPECT_TRUE(meter_->deltas()[1].fresh);
}

/// As on a virtual machine whose PMU has only energy-psys, which reads 0.
TEST_F(PerfSourceTest, CounterNeverMoves_IsReadAndHasNotMoved) {
  machine_.Pmu("0,2", {});
  tree_.Remove(PerfMachine::kPmu + "events");
  machine_.Pmu("0", {{"psys", 5}});
  machine_.Count(0, 5, 0);
  StartMeter();
  for (int i = 0; i < 10; ++i) After(1s);
  EXPECT_TRUE(meter_->status().up);
  EXPECT_FALSE(meter_->has_moved());
}

/// A descriptor of an unloaded driver answers ENODEV for ever.
TEST_F(PerfSourceTest, DriverIsReloaded_OpenEventsAreReplaced) {
  StartMeter({"package"});
  machine_.Reload();
  Package(0, 1'010);
  After(1s);
  EXPECT_FALSE(meter_->status().up);
  Package(0, 1'015);
  After(1s);
  EXPECT_TRUE(meter_->status().up);
  Package(0, 1'018);
  After(1s);
  EXPECT_EQ(Uj(0), 3'000'000) << "counts from the new events";
}

TEST_F(PerfSourceTest, EventCannotBeReadForAWhile_IsCaughtUp) {
  StartMeter({"package"});
  for (const uint32_t cpu : {0U, 2U}) tree_.Write(PerfMachine::File(cpu, kPkg), "broken");
  After(1s);
  EXPECT_FALSE(meter_->status().up);
  Package(0, 1'002);
  Package(2, 1'000);
  After(1s);
  EXPECT_EQ(Uj(0), 2'000'000) << "caught up";
}

}  // namespace
}  // namespace kepler::energy::rapl
