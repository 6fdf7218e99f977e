#include "energy/rapl/rapl_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/meter_selector.h"
#include "energy/rapl/rapl_test_util.h"
#include "energy/scripted_source.h"
#include "testing/as_nobody.h"

namespace kepler::energy::rapl {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using RaplSourceTest = RaplMachineTest;

TEST_F(RaplSourceTest, PowercapWorks_TheOthersAreNotOpened) {
  options_.msr_enabled = true;
  ASSERT_TRUE(Start());
  for (int i = 0; i < 5; ++i) Sample();
  EXPECT_EQ(Interface(), "powercap");
  EXPECT_EQ(meter_->status().interface, "powercap");
  EXPECT_EQ(opened_, 0);
}

TEST_F(RaplSourceTest, PowercapIsDenied_PerfIsUsedAndTheLogHasTheRemedy) {
  tree_.Chmod("", 0755);
  for (const char* entry : {"0", "0:0", "1"}) tree_.Chmod(Zone(entry) + "energy_uj", 0);
  const std::string answer = testing::AsNobody([&] {
    ::testing::internal::CaptureStdout();
    const Status opened = Start();
    return opened ? Interface() + " " + ::testing::internal::GetCapturedStdout() : opened.error().message;
  });
  EXPECT_THAT(answer, ::testing::StartsWith("perf "));
  EXPECT_THAT(answer, HasSubstr("using another one"));
  EXPECT_THAT(answer, HasSubstr("CAP_DAC_READ_SEARCH"));
}

TEST_F(RaplSourceTest, NothingCanBeOpened_TheErrorHasTheRemedyOfEach) {
  tree_.Remove("class/powercap");
  perf_.refusal = Error{ErrorKind::kPermission, "open perf event: Permission denied"};
  const Status opened = Start();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::kPermission) << "what the user can give";
  EXPECT_THAT(opened.error().message, HasSubstr("powercap: list " + tree_.root()));
  EXPECT_THAT(opened.error().message,
              HasSubstr("perf: energy-pkg: open perf event: Permission denied; grant CAP_PERFMON"));
  EXPECT_THAT(opened.error().message, HasSubstr("msr: not enabled; set rapl.msr.enabled"));
  options_.msr_enabled = true;
  ASSERT_TRUE(Start());
  EXPECT_EQ(Interface(), "msr");
}

TEST_F(RaplSourceTest, MsrIsUsed_TheRiskIsLogged) {
  options_.msr_enabled = true;
  options_.msr_force = true;
  ::testing::internal::CaptureStdout();
  const Status opened = Start();
  const std::string log = ::testing::internal::GetCapturedStdout();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(Interface(), "msr");
  EXPECT_THAT(log, HasSubstr("CVE-2020-8694"));
  EXPECT_THAT(log, Not(HasSubstr("unavailable"))) << "it is the preferred one";
}

TEST_F(RaplSourceTest, Order_ForcedInterfacesAreFirst) {
  const auto order = [this](bool perf, bool msr, bool enabled) {
    options_.perf_force = perf;
    options_.msr_force = msr;
    options_.msr_enabled = enabled;
    std::string names;
    for (const RaplInterface& interface : ListRaplInterfaces(options_, clock_))
      if (interface.refusal.empty()) names += std::string(interface.name) + " ";
    return names;
  };
  EXPECT_EQ(order(false, false, false), "powercap perf ");
  EXPECT_EQ(order(false, false, true), "powercap perf msr ");
  EXPECT_EQ(order(true, false, false), "perf powercap ");
  EXPECT_EQ(order(false, true, true), "msr powercap perf ");
  EXPECT_EQ(order(true, true, true), "perf msr powercap ");
  EXPECT_EQ(order(false, true, false), "powercap perf ") << "force does not enable";
  options_.is_guest = true;
  EXPECT_EQ(order(false, false, true), "powercap ");
  EXPECT_EQ(order(true, false, true), "perf powercap ");
  EXPECT_EQ(order(false, true, true), "msr powercap ");
}

TEST_F(RaplSourceTest, Guest_NothingElseIsTriedWhenPowercapIsDead) {
  options_.is_guest = true;
  options_.msr_enabled = true;
  Freeze("0");
  ::testing::internal::CaptureStdout();
  const Status started = Start();
  for (int i = 0; i < 9; ++i) Sample();
  const std::string log = ::testing::internal::GetCapturedStdout();
  ASSERT_TRUE(started);
  EXPECT_EQ(Interface(), "powercap");
  EXPECT_EQ(opened_, 0);
  EXPECT_FALSE(meter_->has_moved());
  EXPECT_THAT(log, HasSubstr("set rapl.perf.force to try it"));
  EXPECT_THAT(log, HasSubstr("set rapl.msr.force to try it"));
}

TEST_F(RaplSourceTest, PowercapIsDead_PerfReplacesItAndCountsFromTheFirstComparison) {
  Freeze("0");
  ASSERT_TRUE(Start());
  for (int i = 0; i < 2; ++i) Sample();
  EXPECT_EQ(opened_, 2) << "opened at the third reading";
  for (int i = 0; i < 2; ++i) Sample();
  EXPECT_EQ(Interface(), "perf");
  EXPECT_EQ(meter_->status().interface, "perf");
  EXPECT_EQ(sum_uj_, 2 * 2 * 10 * kMega) << "two zones, two samples";
  Sample();
  EXPECT_EQ(sum_uj_, 2 * 3 * 10 * kMega);
  EXPECT_EQ(meter_->status().rejected_readings + meter_->status().resets, 0U);
}

TEST_F(RaplSourceTest, PowercapIsStuckBelowItsRange_MsrContinuesItsCounters) {
  tree_.Remove(PerfMachine::kPmu);
  options_.zones = {"package"};  // the range of dram is another one
  options_.msr_enabled = true;
  Freeze(std::to_string(kMsrRange - 15 * kMega));
  ASSERT_TRUE(Start());
  for (int i = 0; i < 6; ++i) Sample();
  EXPECT_EQ(Interface(), "msr");
  EXPECT_EQ(sum_uj_, 4 * 10 * kMega) << "from the second sample on, with a wrap";
  EXPECT_EQ(meter_->status().rejected_readings + meter_->status().resets, 0U);
}

TEST_F(RaplSourceTest, PowercapIsDead_PerfIsChosenBeforeAnotherMeter) {
  Freeze("0");
  Script script;
  script.name = "hwmon";
  script.Add({"socket", "/hwmon", "socket", {}, {}, {}}, RawCounter{1});
  std::vector<std::unique_ptr<EnergySource>> sources;
  sources.push_back(Make());
  sources.push_back(std::make_unique<ScriptedSource>(script, clock_));
  MeterSelector selector(std::move(sources), nullptr, clock_);
  ASSERT_TRUE(selector.Open());
  for (int i = 0; i < 8; ++i) {
    clock_.Advance(1s);
    Use(10);
    std::get<RawCounter>(script.values[0]).microjoules += kMega;
    selector.Sample();
  }
  EXPECT_EQ(selector.current().status().name, "rapl");
  EXPECT_EQ(selector.current().status().interface, "perf");
}

TEST_F(RaplSourceTest, NoPowercapAndPerfReadsZeroForEver_MsrReplacesIt) {
  tree_.Remove("class/powercap");
  show_perf_ = false;
  options_.msr_enabled = true;
  ASSERT_TRUE(Start());
  EXPECT_EQ(Interface(), "perf");
  for (int i = 0; i < 5; ++i) Sample();
  EXPECT_EQ(Interface(), "msr");
  EXPECT_EQ(meter_->status().rejected_readings, 0U) << "the register has joules from before";
}

TEST_F(RaplSourceTest, NothingMoves_TheFirstStaysAndIsReadable) {
  show_perf_ = show_msr_ = false;
  options_.msr_enabled = true;
  Freeze("5");
  ASSERT_TRUE(Start());
  for (int i = 0; i < 9; ++i) Sample();
  EXPECT_EQ(Interface(), "powercap");
  EXPECT_TRUE(meter_->status().up);
  EXPECT_EQ(meter_->status().failed_reads, 0U);
  EXPECT_EQ(opened_, 2) << "opened once";
}

TEST_F(RaplSourceTest, PowercapMovedAndDisappears_StaysAndCatchesUp) {
  ASSERT_TRUE(Start());
  for (int i = 0; i < 2; ++i) Sample();
  show_powercap_ = false;
  tree_.Remove("class");
  for (int i = 0; i < 9; ++i) Sample();
  EXPECT_EQ(Interface(), "powercap");
  EXPECT_EQ(opened_, 0);
  EXPECT_FALSE(meter_->status().up);
}

TEST_F(RaplSourceTest, PowercapDisappearsBeforeItMoved_PerfReplacesIt) {
  Freeze("7");
  ASSERT_TRUE(Start());
  Sample();
  tree_.Remove("class");
  for (int i = 0; i < 3; ++i) Sample();
  EXPECT_EQ(Interface(), "perf");
  EXPECT_EQ(meter_->status().rejected_readings + meter_->status().resets, 0U);
  EXPECT_GT(sum_uj_, 0);
}

}  // namespace
}  // namespace kepler::energy::rapl
