#pragma once
// The configuration as plain values. Only agent/ sees it; every other part gets the plain struct it needs.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/duration.h"

namespace kepler::config {

enum MetricsLevel : uint32_t {
  kLevelNode = 1u << 0,
  kLevelProcess = 1u << 1,
  kLevelContainer = 1u << 2,
  kLevelVm = 1u << 3,
  kLevelPod = 1u << 4,
  kLevelAll = (1u << 5) - 1
};

struct Log {
  std::string level = "info";
  std::string format = "text";
  bool operator==(const Log&) const = default;
};
struct Host {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
  bool operator==(const Host&) const = default;
};
struct Monitor {
  Duration interval = std::chrono::seconds(5);
  Duration staleness = std::chrono::seconds(10);
  int64_t max_terminated = 500;
  int64_t min_terminated_energy_threshold = 10;  // joules
  Duration terminated_retention = std::chrono::minutes(2);
  bool operator==(const Monitor&) const = default;
};
struct Cpu {
  std::vector<std::string> preferred_meters = {"rapl", "hwmon"};
  bool operator==(const Cpu&) const = default;
};
struct Rapl {
  std::vector<std::string> zones;
  bool operator==(const Rapl&) const = default;
};
struct MeterOptions {
  bool require = false;  // meter.require: no meter is a start-up error
  bool operator==(const MeterOptions&) const = default;
};
struct Activity {
  std::string source = "auto";   // auto | bpf | procfs
  std::string counters = "off";  // off | hardware | software
  bool operator==(const Activity&) const = default;
};
struct Attribution {
  std::string weights = "cpu-time";  // cpu-time | counters
  std::string ratio = "proc-stat";   // proc-stat | exact
  bool operator==(const Attribution&) const = default;
};
struct StdoutExporter {
  bool enabled = false;
  int64_t top = 0;  // processes shown below the node table
  bool operator==(const StdoutExporter&) const = default;
};
struct PrometheusExporter {
  bool enabled = true;
  std::vector<std::string> debug_collectors = {"go"};
  uint32_t metrics_level = kLevelAll;
  bool operator==(const PrometheusExporter&) const = default;
};
struct Exporter {
  StdoutExporter stdout_exporter;
  PrometheusExporter prometheus;
  bool operator==(const Exporter&) const = default;
};
struct Web {
  std::string config_file;
  std::vector<std::string> listen_addresses = {":28282"};
  bool operator==(const Web&) const = default;
};
struct Debug {
  bool pprof_enabled = false;
  bool operator==(const Debug&) const = default;
};
struct PodInformer {
  std::string mode = "kubelet";
  Duration poll_interval = std::chrono::seconds(15);
  bool operator==(const PodInformer&) const = default;
};
struct Kube {
  bool enabled = false;
  std::string config;
  std::string node_name;
  PodInformer pod_informer;
  bool operator==(const Kube&) const = default;
};
struct FakeCpuMeter {  // dev.fake-cpu-meter, deprecated
  bool enabled = false;
  std::vector<std::string> zones;
  bool operator==(const FakeCpuMeter&) const = default;
};
struct Redfish {
  bool enabled = false;
  std::string node_name;
  std::string config_file;
  Duration http_timeout = std::chrono::seconds(5);
  bool operator==(const Redfish&) const = default;
};
struct ChipRule {
  std::string name;
  std::map<int, int> pairings;
  std::vector<int> skip_voltages;
  std::vector<int> skip_currents;
  bool use_same_index = false;
  bool operator==(const ChipRule&) const = default;
};
struct Hwmon {
  bool force_enabled = false;  // deprecated
  std::vector<std::string> zones;
  std::vector<ChipRule> chip_rules;
  std::vector<std::string> chips;  // experimental.hwmon.chips: chips that count as CPU; empty: the built-in list
  bool operator==(const Hwmon&) const = default;
};
struct Gpu {
  bool enabled = false;
  double idle_power = 0;
  std::string dcgm_endpoint;
  bool operator==(const Gpu&) const = default;
};
struct Experimental {
  Redfish redfish;
  Hwmon hwmon;
  Gpu gpu;
  bool operator==(const Experimental&) const = default;
};

struct Config {
  Log log;
  Host host;
  Monitor monitor;
  Cpu cpu;
  Rapl rapl;
  MeterOptions meter;
  Activity activity;
  Attribution attribution;
  Exporter exporter;
  Web web;
  Debug debug;
  Kube kube;
  FakeCpuMeter fake_cpu_meter;
  Experimental experimental;
  bool operator==(const Config&) const = default;
};

}  // namespace kepler::config
