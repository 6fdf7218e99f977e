#include "energy/simulated/simulated_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/meter.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::simulated {
namespace {

using namespace std::chrono_literals;

class SimulatedSourceTest : public ::testing::Test {
 protected:
  SimulatedSourceTest() { Busy(1'000); }
  /// Hundredths of a second of user time since boot, on two CPUs.
  void Busy(int ticks, int cpus = 2) {
    std::string text = "cpu  " + std::to_string(ticks) + " 0 0 99 0 0 0 777 0 0\n";
    for (int i = 0; i < cpus; ++i) text += "cpu" + std::to_string(i) + " 1 1 1 1\n";
    tree_.Write("stat", text);
  }
  std::unique_ptr<SimulatedSource> Source(const std::vector<std::string>& zones = {}) {
    return std::make_unique<SimulatedSource>("/sys", std::make_shared<os::ProcStatReader>(tree_.root(), clock_), zones);
  }
  testing::FakeTree tree_;
  testing::FakeClock clock_;
};

TEST_F(SimulatedSourceTest, Discover_NoZonesGiven_PackageCoreDramWithUpstreamsPaths) {
  const auto domains = Source()->Discover();
  ASSERT_TRUE(domains);
  ASSERT_EQ(domains->size(), 3u);
  EXPECT_EQ((*domains)[0].zone, "package");
  EXPECT_EQ((*domains)[0].path, "/sys/class/powercap/intel-rapl/energy_package");
  EXPECT_EQ((*domains)[1].zone, "core");
  EXPECT_EQ((*domains)[2].zone, "dram");
  EXPECT_EQ((*domains)[0].range, kRange);
  EXPECT_EQ((*domains)[0].max_power, Power::Watts(20 + 2 * 15));
}

TEST_F(SimulatedSourceTest, Discover_AnyNames_AreAcceptedOnceEach) {
  const auto domains = Source({"gpu", " gpu", "", "psys"})->Discover();
  ASSERT_TRUE(domains);
  ASSERT_EQ(domains->size(), 2u);
  EXPECT_EQ((*domains)[0].zone, "gpu");
  EXPECT_EQ((*domains)[1].zone, "psys");
}

TEST_F(SimulatedSourceTest, Meter_TenSecondsWithThreeBusyCpuSeconds_IsTheClosedForm) {
  Meter meter(Source(), clock_);
  ASSERT_TRUE(meter.Open());
  meter.Sample();
  clock_.Advance(10s);
  Busy(1'300);
  meter.Sample();
  // Package 10 × 20 W + 3 × 15 J, core 3 × 9 J, dram 10 × 3 W + 3 × 1 J.
  EXPECT_EQ(meter.deltas()[0].energy, Energy::Joules(245));
  EXPECT_EQ(meter.deltas()[1].energy, Energy::Joules(27));
  EXPECT_EQ(meter.deltas()[2].energy, Energy::Joules(33));
}

TEST_F(SimulatedSourceTest, Meter_CpusComeOnline_TheirEnergyIsBelieved) {
  Meter meter(Source(), clock_);
  ASSERT_TRUE(meter.Open());
  meter.Sample();
  clock_.Advance(10s);
  Busy(1'000 + 16 * 1'000, 16);
  meter.Sample();
  EXPECT_EQ(meter.deltas()[0].energy, Energy::Joules(20 * 10 + 15 * 160));
  EXPECT_EQ(meter.status().rejected_readings, 0u);
}

TEST(CounterAt, GrowsToItsRangeAndWrapsToZero) {
  // 20 W from boot: the range is full after kRange µJ / 20 W.
  const Nanoseconds full(static_cast<int64_t>(kRange) * 50);
  EXPECT_EQ(CounterAt("package", full, 0ns).microjoules, kRange);
  EXPECT_EQ(CounterAt("package", full + 50ns, 0ns).microjoules, 0u);
  EXPECT_EQ(CounterAt("package", full + 1s, 0ns).microjoules, 20'000'000u - 1);
}

TEST(CounterAt, TenYearsOfABigMachine_IsStillExact) {
  const Nanoseconds years = 87'600h;
  const uint64_t idle = 20ull * 87'600 * 3'600 * 1'000'000;
  EXPECT_EQ(CounterAt("package", years, 0ns).microjoules, idle % (kRange + 1));
  EXPECT_EQ(CounterAt("core", years, 25 * years).microjoules, 225 * (idle / 20) % (kRange + 1));
}

TEST(BusyTime, StealAndIdle_AreNotBusy) {
  EXPECT_EQ(
      BusyTime({.user = 1, .nice = 2, .system = 3, .idle = 50, .iowait = 60, .irq = 4, .softirq = 5, .steal = 70}),
      150ms);
}

TEST_F(SimulatedSourceTest, Read_Twice_NoChanceIsInvolved) {
  auto source = Source();
  ASSERT_TRUE(source->Discover());
  std::vector<DomainReading> first;
  std::vector<DomainReading> second;
  source->Read(first);
  source->Read(second);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(std::get<RawCounter>(first[i].value), std::get<RawCounter>(second[i].value));
    EXPECT_EQ(std::get<RawCounter>(first[i].value),
              CounterAt(std::vector{"package", "core", "dram"}[i], clock_.Now().time_since_epoch(), 10s));
  }
}

}  // namespace
}  // namespace kepler::energy::simulated
