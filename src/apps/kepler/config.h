#pragma once
// The configuration as plain values. Nobody else sees it: every part gets the plain struct it needs.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "attribution/process_listing.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/text.h"
#include "energy/hwmon/hwmon_source.h"
#include "energy/rapl/rapl_interfaces.h"
#include "export/otlp/request_builder.h"
#include "export/series/family.h"
#include "pipeline/node_tick.h"
#include "pipeline/tick_schedule.h"
#include "settings/table.h"
#include "workload/kubernetes/informer.h"

namespace kepler::agent {

enum class MetricsLevel : uint8_t { kNode, kProcess, kContainer, kVm, kPod, kNamespace, kOwner, kUser };
enum class Meter : uint8_t { kRapl, kHwmon, kFake };
enum class PlatformKind : uint8_t { kPmCounters, kRedfish, kDcmi, kAcpi, kPsu, kBattery };
enum class ActivityChoice : uint8_t { kAuto, kBpf, kProcfs };
enum class Counters : uint8_t { kOff, kHardware };
enum class DebugCollector : uint8_t { kGo, kProcess };
using workload::kubernetes::InformerMode;

/// Levels of Kepler 0.11, the default.
inline constexpr settings::EnumSet kUpstreamLevels = {MetricsLevel::kNode, MetricsLevel::kProcess,
                                                      MetricsLevel::kContainer, MetricsLevel::kVm, MetricsLevel::kPod};

struct Host {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
};

/// The IPMI device of the machine's BMC.
struct Dcmi {
  std::string device_path;  // empty: the usual names in /dev
  Duration interval = std::chrono::seconds(10);
};

/// How many series there may be, and how long their labels.
struct Limits {
  int64_t max_processes = 0;
  double min_watts = 0;
  attribution::KernelThreads kernel_threads = attribution::KernelThreads::kEach;
  int64_t max_label_length = kMaxLabelBytes;
};

/// A server that the agent sends its metrics to. Durations of 0 and empty texts are the defaults of the protocol.
struct PushServer {
  bool enabled = false;
  std::string endpoint{};
  Duration interval{0};
  Duration timeout{0};
  std::string headers_file{};
  int64_t max_queue_bytes = int64_t{8} << 20;
  std::string queue_directory{};  // empty: the queue is in memory
  std::string ca_file{};
  std::string cert_file{};
  std::string key_file{};
};

/// In the order of the choices. kAuto: that of the environment, or HTTP.
enum class OtlpProtocol : uint8_t { kAuto, kHttp, kGrpc };
/// kAuto: that of the environment, or cumulative.
enum class OtlpTemporality : uint8_t { kAuto, kCumulative, kDelta };

/// A server of Prometheus remote write.
struct RemoteWrite {
  PushServer server{.interval = std::chrono::seconds(15), .timeout = std::chrono::seconds(30)};
  int64_t version = 1;  // of the protocol, 1 or 2
  std::string job = "kepler";
  std::string instance;  // empty: the node's name
};

/// A file with lines of JSON.
struct JsonLines {
  std::string path;  // empty: none
  Duration interval = std::chrono::minutes(1);
  int64_t max_size = int64_t{100} << 20;
  int64_t max_files = 5;
};

/// In the order of the table. A room's own struct is used for its settings if it has one.
struct Config {
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
  Host host;
  pipeline::Freshness freshness = {.interval = std::chrono::seconds(5), .staleness = std::chrono::seconds(10)};
  int64_t max_terminated = 500;
  int64_t min_terminated_joules = 10;
  Duration terminated_retention = std::chrono::minutes(2);
  std::vector<Meter> preferred_meters = {Meter::kRapl, Meter::kHwmon};
  energy::rapl::RaplOptions rapl;
  bool require_meter = false;
  std::vector<PlatformKind> platform_meters = {PlatformKind::kPmCounters, PlatformKind::kRedfish,
                                               PlatformKind::kDcmi,       PlatformKind::kAcpi,
                                               PlatformKind::kPsu,        PlatformKind::kBattery};
  Dcmi dcmi;
  std::vector<std::string> model_sources;
  std::string model_server;
  std::string model_server_user;
  std::string model_server_password_file;
  Duration model_refresh = std::chrono::hours(1);
  std::string model_cache_dir = "/var/cache/kepler/models";
  std::string model_public_key;
  bool model_platform = true;
  bool model_guest_idle = false;
  ActivityChoice activity_source = ActivityChoice::kAuto;
  Counters counters = Counters::kOff;
  pipeline::SplitOptions split;
  bool stdout_enabled = false;
  int64_t stdout_top = 0;
  bool prometheus_enabled = true;
  std::vector<DebugCollector> debug_collectors = {DebugCollector::kGo};
  settings::EnumSet<MetricsLevel> metrics_level = kUpstreamLevels;
  Limits limits;
  bool created_lines = false;
  bool exact_totals = false;
  series::NameSet names = series::NameSet::kV011;
  series::LabelSet labels = series::LabelSet::kV011;
  PushServer otlp;
  OtlpProtocol otlp_protocol = OtlpProtocol::kAuto;
  OtlpTemporality otlp_temporality = OtlpTemporality::kAuto;
  otlp::Compression otlp_compression = otlp::Compression::kGzip;
  RemoteWrite remote_write;
  JsonLines json_lines;
  std::string web_config_file;
  std::vector<std::string> listen_addresses = {":28282"};
  bool pprof_enabled = false;
  bool kube_enabled = false;
  std::string kube_config;
  std::string node_name;
  InformerMode informer_mode = InformerMode::kKubelet;
  Duration informer_poll_interval = std::chrono::seconds(15);
  std::vector<std::string> pod_labels;
  std::vector<std::string> pod_annotations;
  std::string kubelet_ca_file;
  bool kubelet_insecure = false;
  bool software_events = false;
  bool fake_meter = false;  // deprecated, as is force_hwmon
  std::vector<std::string> fake_zones;
  bool redfish_enabled = false;
  std::string redfish_node_name;
  std::string redfish_config_file;
  Duration redfish_http_timeout = std::chrono::seconds(5);
  Duration redfish_interval = std::chrono::seconds(15);
  bool force_hwmon = false;
  energy::hwmon::HwmonOptions hwmon;
  bool gpu_enabled = false;
  double gpu_idle_power = 0;
  std::string gpu_dcgm_endpoint;
};

extern const settings::TableOf<Config> kTable;

}  // namespace kepler::agent
