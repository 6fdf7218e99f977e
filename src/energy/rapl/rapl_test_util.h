#pragma once
// A server with one socket, whose energy is shown by powercap, the power PMU and msr devices.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "energy/meter.h"
#include "energy/rapl/msr_test_util.h"
#include "energy/rapl/perf_test_util.h"
#include "energy/rapl/rapl_interfaces.h"
#include "testing/fake_clock.h"

namespace kepler::energy::rapl {

inline constexpr int64_t kMega = 1'000'000;
inline constexpr uint64_t kMsrRange = 262'143'999'999;  // 2^32 counts of 2^-14 J, as MsrSource computes it

class RaplMachineTest : public ::testing::Test {
 protected:
  RaplMachineTest() {
    msr_.Processor("0000", "0006", "0055");
    msr_.Online("0");
    msr_.Cpu(0, 0);
    perf_.Pmu("0", {{"pkg", 2}, {"ram", 3}});
    for (const auto& [entry, name] : {std::pair("0", "package-0"), {"0:0", "dram"}, {"1", "psys"}}) {
      tree_.Write(Zone(entry) + "name", std::string(name) + "\n");
      tree_.Write(Zone(entry) + "max_energy_range_uj", std::to_string(kMsrRange) + "\n");
    }
    options_.sysfs = tree_.root();
    options_.zones = {"package", "dram"};
    options_.msr_device_path = tree_.Path("dev/cpu");
    options_.perf_opener = [this](const PerfEvent& event, uint32_t cpu) {
      ++opened_;
      return perf_.opener()(event, cpu);
    };
    Show();
  }
  static std::string Zone(const std::string& entry) { return "class/powercap/intel-rapl:" + entry + "/"; }
  void Show() {
    if (show_powercap_)
      for (const char* entry : {"0", "0:0", "1"})
        tree_.Write(Zone(entry) + "energy_uj", std::to_string(joules_ * kMega % (kMsrRange + 1)) + "\n");
    if (show_perf_)
      for (const uint64_t config : {2U, 3U}) perf_.Count(0, config, joules_ * kPerfJoule);
    if (!show_msr_) return;
    msr_.Set(0, kUnitMsr, kUnit14);
    msr_.Set(0, kPackageMsr, joules_ << 14U & 0xFFFF'FFFF);
    msr_.Set(0, kDramMsr, joules_ << 16U & 0xFFFF'FFFF);  // 15.3 uJ each
  }
  void Use(uint64_t joules) {
    joules_ += joules;
    Show();
  }
  void Freeze(const std::string& microjoules) {
    show_powercap_ = false;
    for (const char* entry : {"0", "0:0", "1"}) tree_.Write(Zone(entry) + "energy_uj", microjoules + "\n");
  }
  std::unique_ptr<RaplSource> Make() { return std::make_unique<RaplSource>(ListRaplInterfaces(options_, clock_)); }
  /// Opens a meter on a new source, which stays `source_`.
  Status Start() {
    auto source = Make();
    source_ = source.get();
    meter_ = std::make_unique<Meter>(std::move(source), clock_);
    return meter_->Open();
  }
  /// One sample after a second in which each zone used `joules`.
  void Sample(uint64_t joules = 10) {
    clock_.Advance(std::chrono::seconds(1));
    Use(joules);
    meter_->Sample();
    for (size_t zone = 0; zone < meter_->deltas().size(); ++zone)
      sum_uj_ += meter_->deltas()[zone].energy.microjoules();
  }
  std::string Interface() const { return std::string(source_->Interface()); }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  PerfMachine perf_{tree_};
  MsrMachine msr_{tree_};
  RaplOptions options_;
  std::unique_ptr<Meter> meter_;
  RaplSource* source_ = nullptr;
  uint64_t joules_ = 1'000;  // shown by every counter
  int64_t sum_uj_ = 0;       // of all zones and samples
  int opened_ = 0;           // perf events
  bool show_powercap_ = true;
  bool show_perf_ = true;
  bool show_msr_ = true;
};

}  // namespace kepler::energy::rapl
