#pragma once
// One source of RAPL counters in a tree of files, read by a Meter.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "energy/meter.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::rapl {

class MeteredSourceTest : public ::testing::Test {
 protected:
  /// Opens a new meter on `source`, and takes the first sample.
  void Start(std::unique_ptr<EnergySource> source) {
    meter_ = std::make_unique<Meter>(std::move(source), clock_);
    const Status opened = meter_->Open();
    ASSERT_TRUE(opened) << opened.error().message;
    meter_->Sample();
  }
  void After(Nanoseconds time) {
    clock_.Advance(time);
    meter_->Sample();
  }
  [[nodiscard]] int64_t Uj(size_t zone) const { return meter_->deltas()[zone].energy.microjoules(); }
  static std::vector<std::string> Keys(const Result<std::vector<Domain>>& domains) {
    std::vector<std::string> keys;
    if (domains)
      for (const Domain& domain : *domains) keys.push_back(domain.key);
    return keys;
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::unique_ptr<Meter> meter_;
};

}  // namespace kepler::energy::rapl
