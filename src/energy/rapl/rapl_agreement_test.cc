// What the three interfaces to RAPL must have in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "energy/rapl/rapl_test_util.h"

namespace kepler::energy::rapl {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using RaplAgreementTest = RaplMachineTest;

TEST_F(RaplAgreementTest, EveryInterface_SameZonesPathsAndKeys) {
  options_.zones = {};
  perf_.Pmu("0", {{"pkg", 2}, {"ram", 3}, {"psys", 5}});
  perf_.Count(0, 5, 1);
  msr_.Set(0, kPsysMsr, 1'000);
  options_.msr_enabled = true;
  std::vector<std::vector<std::string>> found;
  for (int forced = 0; forced < 3; ++forced) {
    options_.perf_force = forced == 1;
    options_.msr_force = forced == 2;
    auto source = Make();
    const auto domains = source->Discover();
    ASSERT_TRUE(domains) << domains.error().message;
    std::vector<std::string>& texts = found.emplace_back();
    for (const Domain& domain : *domains) texts.push_back(domain.zone + " " + domain.key + " " + domain.path);
    std::ranges::sort(texts);
  }
  const std::string root = tree_.root() + "/class/powercap/intel-rapl:";
  EXPECT_THAT(found[0], ElementsAre("dram dram@0 " + root + "0:0", "package package@0 " + root + "0",
                                    "psys psys@- " + root + "1"))
      << "psys is a zone of its own";
  EXPECT_EQ(found[1], found[0]);
  EXPECT_EQ(found[2], found[0]);
}

TEST_F(RaplAgreementTest, EveryInterface_SameEnergyAlsoBeyondAWrap) {
  options_.msr_enabled = true;
  joules_ = kMsrRange / kMega - 1'000;
  Show();
  std::vector<std::unique_ptr<Meter>> meters;
  for (int forced = 0; forced < 3; ++forced) {
    options_.perf_force = forced == 1;
    options_.msr_force = forced == 2;
    meters.push_back(std::make_unique<Meter>(Make(), clock_));
    ASSERT_TRUE(meters.back()->Open());
    meters.back()->Sample();
  }
  EXPECT_EQ(meters[0]->status().interface, "powercap");
  EXPECT_EQ(meters[1]->status().interface, "perf");
  EXPECT_EQ(meters[2]->status().interface, "msr");
  std::vector<int64_t> sums(3);
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(1s);
    Use(100);
    for (size_t m = 0; m < meters.size(); ++m) {
      meters[m]->Sample();
      sums[m] += meters[m]->deltas()[0].energy.microjoules();
    }
  }
  EXPECT_THAT(sums, ::testing::Each(2'000 * kMega)) << "the units are exact here, so nothing is lost";
}

TEST_F(RaplAgreementTest, Perf_IntervalLongerThanTheWrapOfPowercap_LosesNothing) {
  options_.perf_force = true;
  ASSERT_TRUE(Start());
  EXPECT_EQ(meter_->longest_interval(), std::nullopt);
  meter_->Sample();
  clock_.Advance(24h);
  Use(3 * kMsrRange / kMega);
  meter_->Sample();
  EXPECT_EQ(meter_->deltas()[0].energy.microjoules(), 3 * kMsrRange / kMega * kMega);
}

TEST_F(RaplAgreementTest, SocketGoesOffline_IsNoFailureOnAnyInterface) {
  options_.msr_enabled = true;
  msr_.Online("0-1");
  msr_.Cpu(1, 1);
  for (int forced = 0; forced < 3; ++forced) {
    options_.perf_force = forced == 1;
    options_.msr_force = forced == 2;
    msr_.Online("0-1");
    ASSERT_TRUE(Start());
    const auto domains = source_->Discover();
    ASSERT_TRUE(domains);
    EXPECT_FALSE(source_->IsOffline((*domains)[0]));
    msr_.Online("1");
    EXPECT_TRUE(source_->IsOffline((*domains)[0])) << Interface();
  }
}

}  // namespace
}  // namespace kepler::energy::rapl
