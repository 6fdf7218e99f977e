#pragma once
// The machines of the platform meters. For source_behaviour_test.cc.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "energy/platform/ipmi/dcmi_source.h"
#include "energy/platform/ipmi/simulated_bmc.h"
#include "energy/platform/redfish/fake_bmc.h"
#include "energy/platform/redfish/redfish_source.h"
#include "energy/platform/sysfs/battery_source.h"
#include "energy/platform/sysfs/hwmon_power_source.h"
#include "energy/platform/sysfs/pm_counters_source.h"
#include "energy/source_rig.h"

namespace kepler::energy {

using namespace std::chrono_literals;

/// Two ACPI power meters, as the kernel shows them.
class AcpiRig final : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<platform::sysfs::HwmonPowerSource>(tree.root(), platform::sysfs::HwmonPowerKind::kAcpi,
                                                               testing::Lend(clock));
  }
  void Build() override {
    for (const std::string_view number : {"0", "1"}) {
      const std::string device = "class/hwmon/hwmon" + std::string(number) + "/device";
      tree.Write(device + "/name", "power_meter\n");
      tree.Write(device + "/power1_average", "100000000\n");
    }
  }
  void Work() override { clock.Advance(1s); }
  void Vanish() override { tree.Remove("class/hwmon"); }
  void Garble(std::string_view text) override {
    for (const char* file : {"hwmon0/device/power1_average", "hwmon1/device/power1_average"})
      tree.Write(std::string("class/hwmon/") + file, text);
  }
};

/// A Cray blade without accelerators.
class PmCountersRig final : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<platform::sysfs::PmCountersSource>(tree.root(), testing::Lend(clock));
  }
  void Build() override { WriteCounters(std::to_string(joules_) + " J 1 us\n"); }
  void Work() override {
    clock.Advance(1s);
    joules_ += 50;
    WriteCounters(std::to_string(joules_) + " J " + std::to_string(joules_) + " us\n");
  }
  void Vanish() override { tree.Remove("cray"); }
  void Garble(std::string_view text) override { WriteCounters(text); }

 private:
  void WriteCounters(std::string_view text) {
    for (const char* file : {"energy", "cpu_energy"}) tree.Write(std::string("cray/pm_counters/") + file, text);
  }
  int joules_ = 1'000;
};

/// Two batteries that discharge.
class BatteryRig final : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    return std::make_unique<platform::sysfs::BatterySource>(tree.root(), testing::Lend(clock));
  }
  void Build() override {
    for (const char* battery : {"BAT0", "BAT1"}) {
      const std::string directory = std::string("class/power_supply/") + battery;
      tree.Write(directory + "/type", "Battery\n");
      tree.Write(directory + "/status", "Discharging\n");
      tree.Write(directory + "/power_now", "20000000\n");
    }
  }
  void Work() override { clock.Advance(1s); }
  void Vanish() override { tree.Remove("class/power_supply"); }
  void Garble(std::string_view text) override {
    for (const char* file : {"BAT0/power_now", "BAT1/power_now"})
      tree.Write(std::string("class/power_supply/") + file, text);
  }
};

/// A BMC whose device is a file of the tree. With DCMI, or with two sensors.
template <bool kDcmi>
class IpmiRig final : public Rig {
 public:
  IpmiRig() {
    bmc_.dcmi_watts = kDcmi ? std::optional<uint16_t>(200) : std::nullopt;
    if (kDcmi) return;
    bmc_.Add("System Power", 0x51, 50);
    bmc_.Add("PSU1 Power", 0x52, 50);
  }
  std::unique_ptr<EnergySource> MakeSource() override {
    auto open = [this, path = tree.Path("dev/ipmi0")]() -> Result<std::unique_ptr<platform::ipmi::IpmiDriver>> {
      KEPLER_CHECK_OK(platform::ipmi::OpenIpmiDevice(path));
      return bmc_.opener()();
    };
    return std::make_unique<platform::ipmi::DcmiSource>(tree.Path("dev/ipmi0"), open, testing::Lend(clock));
  }
  void Build() override { tree.Write("dev/ipmi0", ""); }
  void Work() override { clock.Advance(1s); }
  void Vanish() override {
    tree.Remove("dev/ipmi0");
    bmc_.Remove();
  }
  /// Two bytes of any value are a reading of a sensor.
  void Garble(std::string_view text) override { bmc_.garbage = text.substr(0, kDcmi ? text.npos : 1); }

 private:
  platform::ipmi::SimulatedBmc bmc_{clock};
};

/// A BMC with a control of the server and one of its CPUs.
class RedfishRig final : public Rig {
 public:
  std::unique_ptr<EnergySource> MakeSource() override {
    tree.Write("bmc.yaml", "nodes: {n: b}\nbmcs: {b: {endpoint: 'http://127.0.0.1:" + std::to_string(bmc_.port()) +
                               "', username: kepler, password: geheim}}\n");
    return std::make_unique<platform::redfish::RedfishSource>(
        platform::redfish::RedfishOptions{.bmc_file = tree.Path("bmc.yaml"), .node_name = "n"}, testing::Lend(clock));
  }
  void Build() override {
    bmc_.Set(kRoot, R"({"Chassis": {"@odata.id": "/redfish/v1/Chassis"}})");
    SetPower("50", "20");
  }
  void Work() override { clock.Advance(1s); }
  void Vanish() override {
    for (const char* uri : {kRoot, kPower}) bmc_.Answer(uri, "404 Not Found", "{}");
  }
  /// With a unit, because a text with a number is a reading.
  void Garble(std::string_view text) override {
    const std::string value = "\"" + std::string(text) + " W\"";
    SetPower(value, value);
  }
  [[nodiscard]] std::string Place() const override { return "/redfish/v1/"; }

 private:
  static constexpr auto* kRoot = "/redfish/v1/";
  static constexpr auto* kPower = "/redfish/v1/Chassis/1/Power";
  void SetPower(const std::string& server, const std::string& cpu) {
    bmc_.Set(kPower, R"({"PowerControl": [{"MemberId": "0", "Name": "Server", "PowerConsumedWatts": )" + server +
                         R"(}, {"MemberId": "1", "Name": "CPU", "PowerConsumedWatts": )" + cpu + "}]}");
  }
  platform::redfish::FakeBmc bmc_;
};

}  // namespace kepler::energy
