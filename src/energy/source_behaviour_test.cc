// What every EnergySource must do alike, whatever it reads. A new source adds a rig below.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "energy/hwmon/hwmon_source.h"
#include "energy/meter.h"
#include "energy/modeled/model_source.h"
#include "energy/platform_rigs.h"
#include "energy/polled_source.h"
#include "energy/rapl/msr_source.h"
#include "energy/rapl/msr_test_util.h"
#include "energy/rapl/perf_source.h"
#include "energy/rapl/perf_test_util.h"
#include "energy/rapl/powercap_source.h"
#include "energy/rapl/rapl_interfaces.h"
#include "energy/simulated/simulated_source.h"

namespace kepler::energy {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;

class RaplRig : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<rapl::PowercapSource>(tree.root(), std::vector<std::string>{}, clock);
  }
  void Build() override {
    Zone("intel-rapl:0", "package-0");
    Zone("intel-rapl:0:0", "core");
    Zone("intel-rapl:1", "package-1");
  }
  void Work() override {
    clock.Advance(1s);
    counter_ += 50'000'000;
    WriteCounters(std::to_string(counter_) + "\n");
  }
  void Vanish() override { tree.Remove("class/powercap"); }
  void Garble(std::string_view text) override { WriteCounters(text); }

 private:
  void Zone(const std::string& entry, std::string_view name) {
    tree.Write("class/powercap/" + entry + "/name", std::string(name) + "\n");
    tree.Write("class/powercap/" + entry + "/max_energy_range_uj", "262143328850\n");
    tree.Write("class/powercap/" + entry + "/energy_uj", std::to_string(counter_) + "\n");
  }
  void WriteCounters(std::string_view text) {
    for (const char* entry : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"})
      tree.Write(std::string("class/powercap/") + entry + "/energy_uj", text);
  }
  uint64_t counter_ = 1'000;
};

/// Powercap as the first of several interfaces.
class InterfacesRig final : public RaplRig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<rapl::RaplSource>(rapl::ListRaplInterfaces(
        {.sysfs = tree.root(), .zones = {}, .msr_enabled = true, .msr_device_path = tree.Path("dev/cpu")}, clock));
  }
};

/// Two sockets with a power PMU and without powercap.
class PerfRig final : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<rapl::PerfSource>(tree.root(), std::vector<std::string>{}, machine_.opener(), clock);
  }
  void Build() override {
    machine_.Online("0-1");
    for (const uint32_t cpu : {0U, 1U}) machine_.Cpu(cpu, cpu);
    machine_.Pmu("0-1", {{"pkg", 2}, {"ram", 3}});
    WriteCounters(std::to_string(counter_));
  }
  void Work() override {
    clock.Advance(1s);
    counter_ += 50 * rapl::kPerfJoule;
    WriteCounters(std::to_string(counter_));
  }
  void Vanish() override {
    tree.Remove(rapl::PerfMachine::kPmu);
    tree.Remove("perf");
  }
  void Garble(std::string_view text) override { WriteCounters(text); }

 private:
  void WriteCounters(std::string_view text) {
    for (const uint32_t cpu : {0U, 1U})
      for (const uint64_t config : {2U, 3U}) tree.Write(rapl::PerfMachine::File(cpu, config), text);
  }
  rapl::PerfMachine machine_{tree};
  uint64_t counter_ = 1'000;
};

/// Two sockets with msr devices and without powercap.
class MsrRig final : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<rapl::MsrSource>(tree.root(), std::vector<std::string>{}, machine_.device_path(), clock);
  }
  void Build() override {
    machine_.Processor("0000", "0006", "0055");
    machine_.Online("0-1");
    for (const uint32_t cpu : {0U, 1U}) {
      machine_.Cpu(cpu, cpu);
      machine_.Set(cpu, rapl::kUnitMsr, rapl::kUnit14);
    }
    WriteCounters();
  }
  void Work() override {
    clock.Advance(1s);
    counter_ += 800'000;
    WriteCounters();
  }
  void Vanish() override { tree.Remove("dev"); }
  void Garble(std::string_view text) override {
    for (const uint32_t cpu : {0U, 1U}) tree.Write(rapl::MsrMachine::File(cpu), text);
  }

 private:
  void WriteCounters() {
    for (const uint32_t cpu : {0U, 1U})
      for (const uint32_t address : {rapl::kPackageMsr, rapl::kDramMsr}) machine_.Set(cpu, address, counter_);
  }
  rapl::MsrMachine machine_{tree};
  uint64_t counter_ = 1'000;
};

class HwmonRig final : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<hwmon::HwmonSource>(tree.root(), hwmon::HwmonOptions{}, clock);
  }
  void Build() override {
    tree.Write("class/hwmon/hwmon0/name", "zenpower\n");
    tree.Write("class/hwmon/hwmon0/power1_average", "100000000\n");
    tree.Write("class/hwmon/hwmon1/name", "xgene\n");
    tree.Write("class/hwmon/hwmon1/energy1_input", std::to_string(counter_) + "\n");
    tree.Write("class/hwmon/hwmon2/name", "ina219\n");
    tree.Write("class/hwmon/hwmon2/in1_input", "12000\n");
    tree.Write("class/hwmon/hwmon2/curr1_input", "2000\n");
  }
  void Work() override {
    clock.Advance(1s);
    counter_ += 50'000'000;
    tree.Write("class/hwmon/hwmon1/energy1_input", std::to_string(counter_) + "\n");
  }
  void Vanish() override { tree.Remove("class/hwmon"); }
  void Garble(std::string_view text) override {
    for (const char* file : {"hwmon0/power1_average", "hwmon1/energy1_input", "hwmon2/curr1_input"})
      tree.Write(std::string("class/hwmon/") + file, text);
  }

 private:
  uint64_t counter_ = 0;
};

/// Both sources that live on <procfs>/stat.
class ProcRig : public Rig {
 public:
  void Build() override { WriteStat(); }
  void Work() override {
    clock.Advance(1s);
    busy_ += 150;
    idle_ += 50;
    WriteStat();
  }
  void Vanish() override { tree.Remove("stat"); }
  void Garble(std::string_view text) override { tree.Write("stat", text); }

 private:
  void WriteStat() {
    tree.Write("stat", "cpu  " + std::to_string(busy_) + " 0 0 " + std::to_string(idle_) +
                           " 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\nintr 0\n");
  }
  int busy_ = 1'000;
  int idle_ = 5'000;
};

class SimulatedRig final : public ProcRig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<simulated::SimulatedSource>(
        "/sys", std::make_shared<os::ProcStatReader>(tree.root(), clock), std::vector<std::string>{});
  }
};

template <status::Domain kMeasures>
class ModelRig final : public ProcRig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<modeled::ModelSource>(
        modeled::ModelSourceOptions{.proc_stat = std::make_shared<os::ProcStatReader>(tree.root(), clock),
                                    .events = nullptr,
                                    .models = nullptr,
                                    .machine = {}},
        kMeasures, clock);
  }
};

/// RAPL behind a PolledSource that has read whatever it is asked for.
class PolledRig final : public RaplRig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override { return std::make_unique<Prompt>(RaplRig::MakeSource(), clock); }

 private:
  class Prompt final : public EnergySource {
   public:
    Prompt(std::unique_ptr<EnergySource> slow, const Clock& clock)
        : polled_(std::move(slow), 1s, testing::Lend(clock)) {}
    [[nodiscard]] std::string_view Name() const override { return polled_.Name(); }
    [[nodiscard]] status::Domain domain() const override { return polled_.domain(); }
    [[nodiscard]] Authority authority() const override { return polled_.authority(); }
    [[nodiscard]] Result<std::vector<Domain>> Discover() override {
      for (int i = 0; i < 2; ++i) polled_.Poll();  // the first may only find that it has to look
      return polled_.Discover();
    }
    void Read(std::vector<DomainReading>& out) override {
      polled_.Poll();
      polled_.Read(out);
    }
    void UpdateMaxPower(size_t index, Domain& domain) override { polled_.UpdateMaxPower(index, domain); }
    [[nodiscard]] bool IsOffline(const Domain& domain) override { return polled_.IsOffline(domain); }
    [[nodiscard]] bool HasChanged() override { return polled_.HasChanged(); }

   private:
    PolledSource polled_;
  };
};

template <class R>
class EnergySourceBehaviour : public ::testing::Test {
 protected:
  EnergySourceBehaviour() { rig_.Build(); }
  R rig_;
  std::vector<DomainReading> readings_;
};

using Rigs = ::testing::Types<RaplRig, InterfacesRig, PerfRig, MsrRig, HwmonRig, AcpiRig, PmCountersRig, BatteryRig,
                              IpmiRig<true>, IpmiRig<false>, RedfishRig, SimulatedRig, ModelRig<status::Domain::kCpu>,
                              ModelRig<status::Domain::kPlatform>, PolledRig>;
TYPED_TEST_SUITE(EnergySourceBehaviour, Rigs);

std::vector<std::string> Keys(const std::vector<Domain>& domains) {
  std::vector<std::string> keys;
  keys.reserve(domains.size());
  for (const Domain& domain : domains) keys.push_back(domain.key);
  return keys;
}

TYPED_TEST(EnergySourceBehaviour, Discover_Machine_DomainsAreNamedAndDistinct) {
  auto source = this->rig_.MakeSource();
  const auto domains = source->Discover();
  ASSERT_TRUE(domains) << domains.error().message;
  ASSERT_FALSE(domains->empty());
  std::set<std::string> keys;
  for (const Domain& domain : *domains) {
    EXPECT_FALSE(domain.zone.empty());
    EXPECT_FALSE(domain.path.empty());
    EXPECT_TRUE(keys.insert(domain.key).second) << domain.key;
  }
}

TYPED_TEST(EnergySourceBehaviour, Discover_Twice_SameKeysInTheSameOrder) {
  auto source = this->rig_.MakeSource();
  const auto first = source->Discover();
  const auto second = source->Discover();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(Keys(*first), Keys(*second));
}

TYPED_TEST(EnergySourceBehaviour, Discover_NothingThere_SaysWhere) {
  this->rig_.Vanish();
  auto source = this->rig_.MakeSource();
  const auto domains = source->Discover();
  ASSERT_FALSE(domains);
  EXPECT_EQ(domains.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(domains.error().message, ::testing::HasSubstr(this->rig_.Place()));
}

TYPED_TEST(EnergySourceBehaviour, Read_Machine_OneReadingPerDomainWithItsTime) {
  auto source = this->rig_.MakeSource();
  const auto domains = source->Discover();
  ASSERT_TRUE(domains);
  this->readings_.resize(99);
  source->Read(this->readings_);
  ASSERT_EQ(this->readings_.size(), domains->size());
  for (const DomainReading& reading : this->readings_) {
    EXPECT_FALSE(std::holds_alternative<Error>(reading.value));
    EXPECT_EQ(reading.at, this->rig_.clock.Now());
  }
}

TYPED_TEST(EnergySourceBehaviour, Read_EverythingVanished_EveryReadingAsksForRediscovery) {
  auto source = this->rig_.MakeSource();
  const auto domains = source->Discover();
  ASSERT_TRUE(domains);
  this->rig_.Vanish();
  source->Read(this->readings_);
  ASSERT_EQ(this->readings_.size(), domains->size());
  for (const DomainReading& reading : this->readings_) {
    const auto* error = std::get_if<Error>(&reading.value);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->kind, ErrorKind::kNotFound);
  }
}

TYPED_TEST(EnergySourceBehaviour, Discover_FailsLater_FormerListStaysInForce) {
  auto source = this->rig_.MakeSource();
  const auto domains = source->Discover();
  ASSERT_TRUE(domains);
  this->rig_.Vanish();
  ASSERT_FALSE(source->Discover());
  this->rig_.Build();
  source->Read(this->readings_);
  ASSERT_EQ(this->readings_.size(), domains->size());
  EXPECT_FALSE(std::holds_alternative<Error>(this->readings_[0].value));
}

TYPED_TEST(EnergySourceBehaviour, Read_GarbageInsteadOfNumbers_IsMalformedAndNamesTheFile) {
  auto source = this->rig_.MakeSource();
  ASSERT_TRUE(source->Discover());
  for (const std::string_view text : {"", "\n", "12x\n", "-\n", "99999999999999999999999\n", "\xff\xfe"}) {
    this->rig_.Garble(text);
    source->Read(this->readings_);
    for (const DomainReading& reading : this->readings_) {
      const auto* error = std::get_if<Error>(&reading.value);
      ASSERT_NE(error, nullptr) << text;
      EXPECT_EQ(error->kind, ErrorKind::kMalformed);
      EXPECT_THAT(error->message, ::testing::HasSubstr(this->rig_.Place()));
    }
  }
}

TYPED_TEST(EnergySourceBehaviour, Meter_OverTheSource_SeesItMoveVanishAndComeBack) {
  Meter meter(this->rig_.MakeSource(), this->rig_.clock);
  ASSERT_TRUE(meter.Open());
  meter.Sample();
  this->rig_.Work();
  meter.Sample();
  EXPECT_TRUE(meter.has_moved());
  for (const ZoneDelta& delta : meter.deltas()) {
    EXPECT_TRUE(delta.fresh);
    EXPECT_GT(delta.energy, Energy());
  }
  this->rig_.Vanish();
  this->rig_.clock.Advance(1s);
  meter.Sample();
  EXPECT_FALSE(meter.status().up);
  const size_t zones = meter.zones().size();
  this->rig_.Build();
  this->rig_.Work();
  meter.Sample();
  EXPECT_TRUE(meter.status().up);
  EXPECT_EQ(meter.zones().size(), zones);
  for (const ZoneDelta& delta : meter.deltas()) EXPECT_GT(delta.energy, Energy()) << "the gap is caught up";
  EXPECT_EQ(meter.status().resets, 0u);
}

}  // namespace
}  // namespace kepler::energy
