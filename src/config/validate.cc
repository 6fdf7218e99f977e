#include "config/validate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/duration.h"
#include "base/host_port.h"
#include "base/parse.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "config/listen_conflict.h"
#include "config/values.h"

namespace kepler::config {
namespace {

constexpr size_t kLongestHost = 253;  // RFC 1035

std::unexpected<Error> Bad(std::string message) { return Fail(ErrorKind::kInvalid, std::move(message)); }

Status CheckPort(std::string_view text) {
  const auto port = ParseNumber<uint16_t>(text);
  if (port && *port > 0) return {};
  return Bad(fmt::format("port \"{}\" is not a number from 1 to 65535", text));
}

bool IsIpv6(std::string_view text) {
  in6_addr parsed;
  const std::string address(text.substr(0, text.find('%')));  // without the zone
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

bool IsHostName(std::string_view host) {
  return host.size() <= kLongestHost && std::ranges::all_of(host, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                  c == '_';
         });
}

/// "host:port" whose host is one in form.
Result<HostPort> SplitHost(std::string_view text) {
  KEPLER_TRY(const auto parts, SplitHostPort(text));
  if (parts.bracketed && !IsIpv6(parts.host)) return Bad(fmt::format("\"{}\" is not an IPv6 address", parts.host));
  if (!parts.bracketed && !IsHostName(parts.host)) return Bad(fmt::format("\"{}\" is not a host name", parts.host));
  return parts;
}

Status CheckDirectory(const std::string& path) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(path, error);
  if (error) return Bad(fmt::format("cannot read directory {}: {}", path, error.message()));
  if (entries == std::filesystem::directory_iterator()) return Bad(fmt::format("directory {} is empty", path));
  return {};
}

Status CheckFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  // A pipe without a writer reads as empty, a device as anything; of a directory the read says what it is.
  struct stat status{};
  if (file.valid() && fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return Bad(fmt::format("{} is not a regular file", path));
  char byte = 0;
  const ssize_t got = file.valid() ? read(file.get(), &byte, 1) : -1;
  if (got < 0) return FailErrno("cannot read", path);
  if (got == 0) return Bad(fmt::format("{} is empty", path));
  return {};
}

std::string ShowNumber(const Key& key, int64_t number) {
  Config config;
  if (std::holds_alternative<Duration*>(key.field(config))) return FormatDuration(Duration(number));
  return fmt::format("{}{}{}", number, key.unit.empty() ? "" : " ", key.unit);
}

/// Choices, bounds and empty items: what the table says about one key.
class TableRules {
 public:
  TableRules(Draft& draft, size_t index) : draft_(draft), index_(index), key_(Keys()[index]) {}

  void Check() { std::visit(*this, key_.field(draft_.config)); }

  void operator()(const int64_t* value) { CheckBounds(*value); }
  void operator()(const Duration* value) { CheckBounds(int64_t{value->count()}); }
  void operator()(const double* value) { CheckBounds(*value); }
  void operator()(std::string* value) {
    if (const auto why = key_.is_path ? WhyNoPath(*value) : std::string_view(); !why.empty()) {
      draft_.Reject(index_, why);
      Config defaults;
      *value = *std::get<std::string*>(key_.field(defaults));  // no other rule is to show it
    }
    if (!key_.choices.empty() && !IsChoice(*value)) draft_.Reject(index_, NotOneOf(*value, key_.choices));
  }
  void operator()(const Strings* values) {
    for (size_t i = 0; i < values->size(); ++i) {
      const std::string& value = (*values)[i];
      if (value.empty())
        draft_.Reject(index_, "has an empty item", i);
      else if (!key_.choices.empty() && !IsChoice(value))
        draft_.Reject(index_, NotOneOf(value, key_.choices), i);
    }
  }
  void operator()(const bool*) {}
  void operator()(const uint32_t*) {}
  void operator()(const ChipRules*) {}

 private:
  template <class T>
  void CheckBounds(T value) {
    const auto reject = [&](std::string_view side, int64_t bound) {
      draft_.Reject(index_, fmt::format("{} is {} than {}", ShowValue(value), side, ShowNumber(key_, bound)));
    };
    if (value < static_cast<T>(key_.least))
      reject("less", key_.least);
    else if (value > static_cast<T>(key_.most))
      reject("more", key_.most);
    else if (value > 0 && value < static_cast<T>(key_.least_above_zero))
      draft_.Reject(index_, fmt::format("{} is neither 0 nor at least {}", ShowValue(value),
                                        ShowNumber(key_, key_.least_above_zero)));
  }
  [[nodiscard]] std::string ShowValue(int64_t value) const { return ShowNumber(key_, value); }
  [[nodiscard]] std::string ShowValue(double value) const { return fmt::format("{}", value); }
  [[nodiscard]] bool IsChoice(std::string_view value) const {
    return std::ranges::find(key_.choices, value) != key_.choices.end();
  }

  Draft& draft_;
  size_t index_;
  const Key& key_;
};

/// sysfs may be missing (a sandbox, a read-only image) unless it was asked for: then the agent runs without meters.
void CheckHost(Draft& draft) {
  const Host& host = draft.config.host;
  if (const Status procfs = CheckDirectory(host.procfs); !procfs) draft.Reject("host.procfs", procfs.error().message);
  const Status sysfs = CheckDirectory(host.sysfs);
  if (sysfs) return;
  if (draft.origin("host.sysfs").from != From::kDefault) return draft.Reject("host.sysfs", sysfs.error().message);
  draft.Warn(fmt::format("host.sysfs: {}; no meter can be found there", sysfs.error().message));
}

/// Found here, a second use of an address is not taken for another process that has the port.
void CheckListenConflicts(Draft& draft, size_t key, const Strings& addresses) {
  for (size_t i = 1; i < addresses.size(); ++i) {
    const auto end = addresses.begin() + static_cast<std::ptrdiff_t>(i);
    const auto taken = std::find_if(addresses.begin(), end,
                                    [&](const std::string& earlier) { return ListenConflict(earlier, addresses[i]); });
    if (taken == end) continue;
    const auto place = static_cast<size_t>(taken - addresses.begin());
    draft.Reject(key,
                 fmt::format("{} cannot be listened on together with {} ({}); remove one of them", Quote(addresses[i]),
                             Quote(*taken), draft.Where(key, place)),
                 i);
  }
}

void CheckWeb(Draft& draft) {
  const Web& web = draft.config.web;
  if (!web.config_file.empty())
    if (const Status file = CheckFile(web.config_file); !file) draft.Reject("web.configFile", file.error().message);
  const size_t key = KeyIndex("web.listenAddresses");
  if (web.listen_addresses.empty()) draft.Reject(key, "needs at least one address");
  for (size_t i = 0; i < web.listen_addresses.size(); ++i) {
    if (web.listen_addresses[i].empty()) continue;  // said already
    if (const Status address = CheckListenAddress(web.listen_addresses[i]); !address)
      draft.Reject(key, address.error().message, i);
  }
  CheckListenConflicts(draft, key, web.listen_addresses);
}

void CheckKube(Draft& draft) {
  const Kube& kube = draft.config.kube;
  if (!kube.config.empty() && (kube.enabled || draft.origin("kube.config").from == From::kFlag))
    if (const Status file = CheckFile(kube.config); !file) draft.Reject("kube.config", file.error().message);
  if (kube.enabled && kube.node_name.empty())
    draft.Reject("kube.enabled", "needs the name of this node; set kube.nodeName or --kube.node-name");
}

void CheckExperimental(Draft& draft) {
  const Redfish& redfish = draft.config.experimental.redfish;
  if (redfish.enabled && redfish.config_file.empty()) {
    draft.Reject("experimental.platform.redfish.enabled",
                 "needs the BMC file; set experimental.platform.redfish.configFile or "
                 "--experimental.platform.redfish.config-file");
  } else if (redfish.enabled) {
    if (const Status file = CheckFile(redfish.config_file); !file)
      draft.Reject("experimental.platform.redfish.configFile", file.error().message);
  }
  const std::string& endpoint = draft.config.experimental.gpu.dcgm_endpoint;
  if (endpoint.empty()) return;
  if (const Status url = CheckEndpoint(endpoint); !url)
    draft.Reject("experimental.gpu.dcgmEndpoint", url.error().message);
}

struct Trimmer {
  void operator()(std::string* text) const { *text = std::string(kepler::Trim(*text)); }
  void operator()(Strings* texts) const {
    for (std::string& text : *texts) (*this)(&text);
  }
  template <class Other>
  void operator()(Other*) const {}
};

}  // namespace

void TrimTexts(Draft& draft) {
  for (const Key& key : Keys()) std::visit(Trimmer{}, key.field(draft.config));
}

void Validate(Draft& draft) {
  for (size_t i = 0; i < Keys().size(); ++i) TableRules(draft, i).Check();
  CheckHost(draft);
  CheckWeb(draft);
  CheckKube(draft);
  CheckExperimental(draft);
}

void Complete(Draft& draft, const std::string& hostname) {
  Config& config = draft.config;
  Redfish& redfish = config.experimental.redfish;
  if (config.kube.pod_informer.poll_interval == Duration::zero())
    config.kube.pod_informer.poll_interval = PodInformer{}.poll_interval;
  if (redfish.http_timeout == Duration::zero()) redfish.http_timeout = Redfish{}.http_timeout;
  if (config.experimental.hwmon.force_enabled) {
    draft.Warn(fmt::format("{}: deprecated; set cpu.preferredMeters to [hwmon] instead",
                           draft.Where(KeyIndex("experimental.hwmon.forceEnabled"))));
    config.cpu.preferred_meters = {"hwmon"};
  }
  if (config.fake_cpu_meter.enabled) {  // wins over hwmon, as upstream
    draft.Warn(fmt::format("{}: deprecated; set cpu.preferredMeters to [fake] instead",
                           draft.Where(KeyIndex("dev.fake-cpu-meter.enabled"))));
    config.cpu.preferred_meters = {"fake"};
  }
  if (config.attribution.weights == "counters" && config.activity.counters == "off")
    config.activity.counters = "hardware";
  if (config.activity.counters != "off" && config.activity.source == "procfs")
    draft.Warn("activity.source: procfs counts no events; CPU time is used, and their metrics are left out");
  if (config.kube.node_name.empty()) config.kube.node_name = hostname;
  if (redfish.enabled && redfish.node_name.empty()) redfish.node_name = config.kube.node_name;
}

Status CheckListenAddress(const std::string& address) {
  const auto parts = SplitHost(address);
  const Status port = parts ? CheckPort(parts->port) : Status(std::unexpected(parts.error()));
  if (port) return {};
  return Bad(fmt::format("\"{}\" is not an address to listen on: {}", address, port.error().message));
}

Status CheckEndpoint(std::string_view url) {
  const std::string lower = ToLowerAscii(url);
  const size_t scheme = lower.starts_with("http://") ? 7 : lower.starts_with("https://") ? 8 : 0;
  if (scheme == 0) return Bad("must start with http:// or https://");
  const std::string_view rest = url.substr(scheme);
  // Also behind a slash, where it is no user's: a password with one in it would be quoted below.
  if (rest.contains('@')) return Bad("must not contain credentials");
  if (rest.find('\\') != std::string_view::npos) return Bad("must not contain a backslash");
  if (rest.find_first_of("?#") != std::string_view::npos) return Bad("must not have a query or a fragment");
  std::string authority(rest.substr(0, rest.find('/')));
  const bool has_port = authority.find(':') != std::string::npos && !authority.ends_with(']');
  if (!has_port) authority += ":80";
  const auto parts = SplitHost(authority);
  if (!parts) return Bad(fmt::format("is not a usable URL: {}", parts.error().message));
  if (parts->host.empty()) return Bad("is not a usable URL: the host is missing");
  return CheckPort(parts->port);
}

}  // namespace kepler::config
