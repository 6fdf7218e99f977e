#include "apps/kepler/rules.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/kepler/exporter_rules.h"
#include "attribution/idle_baseline.h"
#include "base/unique_fd.h"
#include "model_store/place.h"
#include "model_store/public_keys.h"
#include "settings/addresses.h"
#include "workload/kubernetes/access.h"
#include "workload/kubernetes/node.h"
#include "workload/label_lists.h"

namespace kepler::agent {
namespace {

namespace kubernetes = workload::kubernetes;
using settings::Draft;
using settings::From;

Status CheckDirectory(const std::string& path) {
  if (path.empty()) return settings::Bad("is empty");
  std::error_code error;
  const std::filesystem::directory_iterator entries(path, error);
  if (error) return settings::Bad(fmt::format("cannot read directory {}: {}", path, error.message()));
  if (entries == std::filesystem::directory_iterator())
    return settings::Bad(fmt::format("directory {} is empty", path));
  return {};
}

/// Or else a wrong path looks as if no meter worked.
Status CheckProcfs(const std::string& path) {
  KEPLER_CHECK_OK(CheckDirectory(path));
  const UniqueFd stat(open((path + "/stat").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 4> begin{};
  const ssize_t got = stat.valid() ? read(stat.get(), begin.data(), begin.size()) : -1;
  if (got == static_cast<ssize_t>(begin.size()) && std::string_view(begin.data(), begin.size()) == "cpu ") return {};
  return settings::Bad(fmt::format(
      "{} is no proc file system: {}; set the directory where the host's /proc is mounted", path,
      got < 0 ? FailErrno("cannot read", path + "/stat").error().message : path + "/stat does not begin with \"cpu\""));
}

Status CheckFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  // A pipe without a writer reads as empty, a device as anything. For a directory the error of read() is clear.
  struct stat status{};
  if (file.valid() && fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return settings::Bad(fmt::format("{} is not a regular file", path));
  char byte = 0;
  const ssize_t got = file.valid() ? read(file.get(), &byte, 1) : -1;
  if (got < 0) return FailErrno("cannot read", path);
  if (got == 0) return settings::Bad(fmt::format("{} is empty", path));
  return {};
}

/// sysfs may be missing (a sandbox, a read-only image) unless it was asked for: then the agent runs without meters.
void CheckHost(Draft& draft, const Host& host) {
  const bool is_default = host.procfs == Host().procfs;  // it may lack stat (ProcSubset=pid)
  const Status procfs = is_default ? CheckDirectory(host.procfs) : CheckProcfs(host.procfs);
  if (!procfs) draft.Reject("host.procfs", procfs.error().message);
  const Status sysfs = CheckDirectory(host.sysfs);
  if (sysfs) return;
  if (draft.origin("host.sysfs").from != From::kDefault) return draft.Reject("host.sysfs", sysfs.error().message);
  draft.Warn(fmt::format("host.sysfs: {}; no meter can be found there", sysfs.error().message));
}

/// Of what the key `path` names; nothing where that is nothing.
void CheckNamedFile(Draft& draft, std::string_view path, const std::string& file) {
  if (file.empty()) return;
  if (const Status usable = CheckFile(file); !usable) draft.Reject(path, usable.error().message);
}

/// The same, and what `read` has against it.
void CheckNamedFile(Draft& draft, std::string_view path, const std::string& file, const auto& read) {
  if (file.empty()) return;
  if (const Status usable = CheckFile(file); !usable) return draft.Reject(path, usable.error().message);
  if (const auto content = read(file); !content) draft.Reject(path, content.error().message);
}

/// As Kubernetes has them: a name, or a domain and a name.
bool IsNameOfLabel(std::string_view name) {
  return !name.empty() && name.size() <= 253 + 1 + 63 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") == name.npos;
}

/// `path`: the key with the list; `one`: the noun for one item.
void CheckAskedTexts(Draft& draft, std::string_view path, const std::vector<std::string>& names, std::string_view one) {
  constexpr size_t kMax = workload::LabelLists::kMaxEach;
  for (const std::string& name : names)
    if (!IsNameOfLabel(name))
      draft.Reject(path, fmt::format("\"{}\" is not the name of {}; write each name as a separate item", name, one));
  if (names.size() > kMax) draft.Reject(path, fmt::format("has {} names; the maximum is {}", names.size(), kMax));
}

void CheckNodeName(Draft& draft, const std::string& name) {
  if (name.empty())
    return draft.Reject("kube.enabled", "needs the name of this node; set kube.nodeName or --kube.node-name");
  if (kubernetes::IsNodeName(name)) return;
  draft.Reject(
      "kube.nodeName",
      fmt::format("{} cannot be the name of a node, which has only lower-case letters, digits, '-' and '.'; set a "
                  "name that kubectl get nodes shows",
                  settings::Quote(name)));
}

/// Whether the cluster can be reached from here and answers, shows while the agent runs.
void CheckFilesOfCluster(Draft& draft, const Config& config) {
  CheckNamedFile(draft, "kube.config", config.kube_config, kubernetes::ReadKubeconfig);
  CheckNamedFile(draft, "kube.podInformer.kubeletCaFile", config.kubelet_ca_file, kubernetes::ReadAuthority);
  if (!config.kube_config.empty()) return;
  if (const auto access = kubernetes::InClusterAccess(); !access) draft.Reject("kube.enabled", access.error().message);
}

void CheckKube(Draft& draft, const Config& config, Moment moment) {
  CheckAskedTexts(draft, "kube.podInformer.labels", config.pod_labels, "a label");
  CheckAskedTexts(draft, "kube.podInformer.annotations", config.pod_annotations, "an annotation");
  if (config.kube_enabled) CheckNodeName(draft, config.node_name);
  if (moment == Moment::kReload) return;
  if (config.kube_enabled)
    CheckFilesOfCluster(draft, config);
  else if (draft.origin("kube.config").from == From::kFlag)
    CheckNamedFile(draft, "kube.config", config.kube_config);
}

void CheckSplit(Draft& draft, const Config& config) {
  if (config.split.idle_payers == snapshot::IdlePayers::kByRequest && !config.kube_enabled)
    draft.Reject("attribution.idle", "by-request needs kube.enabled: the cluster knows what containers requested");
}

/// Names an item of model.sources in errors, without its query and options, which may hold a secret.
std::string NameOfItem(const std::string& text, size_t index) {
  const std::string plain = text.substr(0, text.find_first_of("?#"));
  return plain.contains('@') ? fmt::format("item {}", index + 1) : settings::Quote(plain);
}

/// That they can be places; whether anything is there shows while the agent runs.
void CheckModels(Draft& draft, const Config& config) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < config.model_sources.size(); ++i) {
    const auto place = model_store::ParsePlace(config.model_sources[i]);
    keys.push_back(place ? place->Key() : std::string());
    const auto first = std::ranges::find(keys, keys.back()) - keys.begin();
    const std::string item = NameOfItem(config.model_sources[i], i);
    if (!place)
      draft.Reject("model.sources", fmt::format("{} {}", item, place.error().message), i);
    else if (first < static_cast<std::ptrdiff_t>(i))
      draft.Reject("model.sources", fmt::format("{} is the same place as item {}; remove one of them", item, first + 1),
                   i);
  }
  if (keys.size() > model_store::kMaxPlaces)
    draft.Reject("model.sources", fmt::format("has {} places; the maximum is {}; put models into one directory",
                                              keys.size(), model_store::kMaxPlaces));
}

/// A relative directory would depend on where the agent is started: copies of the last start would not be found.
void CheckCacheOfModels(Draft& draft, const Config& config) {
  if (!config.model_cache_dir.empty() && !config.model_cache_dir.starts_with('/'))
    draft.Reject("model.cacheDir", "is a relative path; write an absolute path");
}

void CheckServerOfModels(Draft& draft, const Config& config) {
  if (config.model_server.empty()) return;
  if (const Status endpoint = settings::CheckEndpoint(config.model_server); !endpoint)
    draft.Reject("model.server", endpoint.error().message);
}

void CheckLoginOfModels(Draft& draft, const Config& config) {
  const bool has_user = !config.model_server_user.empty();
  if (has_user == config.model_server_password_file.empty())
    draft.Reject(has_user ? "model.serverPasswordFile" : "model.serverUser",
                 "is missing; set model.serverUser and model.serverPasswordFile together");
  if (config.model_server_user.contains(':')) draft.Reject("model.serverUser", "must not contain a colon");
  CheckNamedFile(draft, "model.serverPasswordFile", config.model_server_password_file);
  if (has_user && config.model_server.starts_with("http:"))
    draft.Reject("model.server",
                 "must begin with https:// if model.serverUser is set: the password would be sent in "
                 "plain text");
}

void CheckKeyOfModels(Draft& draft, const Config& config) {
  if (config.model_public_key.empty()) return;
  if (const auto keys = model_store::PublicKeys::Read(config.model_public_key); !keys)
    draft.Reject("model.publicKey", keys.error().message);
}

void CheckExperimental(Draft& draft, const Config& config) {
  if (config.redfish_enabled)
    CheckNamedFile(draft, "experimental.platform.redfish.configFile", config.redfish_config_file);
  if (config.redfish_enabled && config.redfish_config_file.empty())
    draft.Reject("experimental.platform.redfish.enabled",
                 "needs the BMC file; set experimental.platform.redfish.configFile or "
                 "--experimental.platform.redfish.config-file");
  const auto& meters = config.platform_meters;
  if (config.redfish_enabled && std::ranges::find(meters, PlatformKind::kRedfish) == meters.end())
    draft.Warn("experimental.platform.redfish.enabled has no effect, because platform.preferredMeters lacks redfish");
  const std::string& endpoint = config.gpu_dcgm_endpoint;
  if (endpoint.empty()) return;
  if (const Status url = settings::CheckEndpoint(endpoint); !url)
    draft.Reject("experimental.gpu.dcgmEndpoint", url.error().message);
}

void WarnOfBaseline(Draft& draft, const Config& config) {
  using Fit = attribution::IdleBaselineFit;
  const std::chrono::duration<double> interval = config.freshness.interval;
  if (config.split.idle == pipeline::IdlePolicy::kBaseline && interval.count() > Fit::kLongest)
    draft.Warn("attribution.split: no baseline can be learned with a monitor.interval above 5m, using the usage ratio");
}

void WarnOfMsr(Draft& draft, const Config& config) {
  if (config.rapl.msr_enabled) return;
  const auto warn = [&](bool differs, std::string_view path) {
    if (differs) draft.Warn(fmt::format("{}: has no effect without rapl.msr.enabled", draft.Where(path)));
  };
  warn(config.rapl.msr_force, "rapl.msr.force");
  warn(config.rapl.msr_device_path != Config().rapl.msr_device_path, "rapl.msr.devicePath");
}

/// Joules that a series gets between the last scrape and its end are lost to who adds up increases.
void WarnOfExactTotals(Draft& draft, const Config& config) {
  if (!config.exact_totals) return;
  constexpr std::chrono::minutes kShort{1};
  if (config.terminated_retention < kShort)
    draft.Warn(
        fmt::format("{}: ended workloads are listed for less than a minute; totals are exact only with a shorter "
                    "scrape interval",
                    draft.Where("monitor.terminatedRetention")));
  const auto warn = [&](bool limits, std::string_view path) {
    if (limits)
      draft.Warn(fmt::format("{}: totals of processes are not exact, because this limit ends series at any time",
                             draft.Where(path)));
  };
  warn(config.limits.max_processes > 0, "exporter.prometheus.limits.maxProcesses");
  warn(config.limits.min_watts > 0, "exporter.prometheus.limits.minWatts");
}

void WarnOfInformer(Draft& draft, const Config& config) {
  if (config.kube_enabled) return;
  const Config defaults;
  const auto warn = [&](bool differs, std::string_view path) {
    if (differs) draft.Warn(fmt::format("{}: has no effect without kube.enabled", draft.Where(path)));
  };
  warn(config.informer_mode != defaults.informer_mode, "kube.podInformer.mode");
  warn(config.informer_poll_interval != defaults.informer_poll_interval, "kube.podInformer.pollInterval");
  warn(config.labels != defaults.labels, "exporter.prometheus.labelNames");
  warn(config.pod_labels != defaults.pod_labels, "kube.podInformer.labels");
  warn(config.pod_annotations != defaults.pod_annotations, "kube.podInformer.annotations");
  warn(config.kubelet_ca_file != defaults.kubelet_ca_file, "kube.podInformer.kubeletCaFile");
  warn(config.kubelet_insecure, "kube.podInformer.kubeletInsecureSkipVerify");
}

std::string SystemHostname() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace

void CheckRules(Draft& draft, const Config& config, Moment moment) {
  CheckHost(draft, config.host);
  CheckNamedFile(draft, "web.configFile", config.web_config_file);
  settings::CheckListenAddresses(draft, "web.listenAddresses", config.listen_addresses);
  CheckModels(draft, config);
  CheckCacheOfModels(draft, config);
  CheckServerOfModels(draft, config);
  CheckLoginOfModels(draft, config);
  CheckKeyOfModels(draft, config);
  CheckKube(draft, config, moment);
  CheckSplit(draft, config);
  CheckExperimental(draft, config);
  CheckExporters(draft, config, moment);
}

void Complete(Draft& draft, Config& config, const std::string& hostname) {
  const Config defaults;
  if (config.informer_poll_interval == Duration::zero())
    config.informer_poll_interval = defaults.informer_poll_interval;
  if (config.redfish_http_timeout == Duration::zero()) config.redfish_http_timeout = defaults.redfish_http_timeout;
  const auto use_only = [&](Meter meter, std::string_view name, std::string_view path) {
    draft.Warn(fmt::format("{}: deprecated; set cpu.preferredMeters to [{}] instead", draft.Where(path), name));
    config.preferred_meters = {meter};
  };
  if (config.force_hwmon) use_only(Meter::kHwmon, "hwmon", "experimental.hwmon.forceEnabled");
  // Wins over hwmon, as upstream.
  if (config.fake_meter) use_only(Meter::kFake, "fake", "dev.fake-cpu-meter.enabled");
  if (config.split.weights == pipeline::CpuWeights::kCounters) config.counters = Counters::kHardware;
  if (config.counters != Counters::kOff && config.activity_source == ActivityChoice::kProcfs)
    draft.Warn("activity.source: procfs cannot count hardware events, using CPU time; metrics of events are left out");
  WarnOfBaseline(draft, config);
  WarnOfMsr(draft, config);
  WarnOfExactTotals(draft, config);
  WarnOfInformer(draft, config);
  if (config.node_name.empty()) config.node_name = hostname;
  if (config.redfish_enabled && config.redfish_node_name.empty()) config.redfish_node_name = config.node_name;
}

settings::Parsed<Config> ParseCommandLine(std::span<const char* const> argv, const BuildInfo& build,
                                          const std::optional<std::string>& hostname, Moment moment) {
  const settings::Program program{
      .name = "kepler",
      .about =
          "Measures the energy of this machine and shows which process, container, pod or VM used it.\n"
          "kepler meters [--json] [<flags>] prints the energy meters of this machine instead, and exits.\n"
          "kepler run [--json] [<flags>] -- <command> runs a command and prints the energy that it used.\n"
          "kepler top [<flags>] shows power and energy on the terminal.\n"
          "kepler report [<flags>] <file>... adds up the energy of a period.",
      .build = build};
  return settings::ParseCommandLine<Config>(argv, program, kTable, [&](Draft& draft, Config& config) {
    CheckRules(draft, config, moment);
    if (draft.errors().empty()) Complete(draft, config, hostname ? *hostname : SystemHostname());
  });
}

}  // namespace kepler::agent
