#include "apps/kepler/push_wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "apps/kepler/push_target.h"
#include "apps/kepler/wiring.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "export/otlp/environment.h"
#include "export/otlp/grpc_sender.h"
#include "export/otlp/receipt.h"
#include "export/remote_write/request_writer.h"
#include "http/client/url.h"
#include "http/grpc/channel.h"

namespace kepler::agent {
namespace {

using http::client::ClientRequest;

std::string Variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());  // nothing changes the environment
  return value == nullptr ? "" : value;
}

bool IsGrpc(const Config& config, const otlp::Environment& environment) {
  if (config.otlp_protocol != OtlpProtocol::kAuto) return config.otlp_protocol == OtlpProtocol::kGrpc;
  return environment.protocol == otlp::Protocol::kGrpc;
}

otlp::Temporality TemporalityOf(const Config& config, const otlp::Environment& environment) {
  if (config.otlp_temporality == OtlpTemporality::kAuto)
    return environment.temporality.value_or(otlp::Temporality::kCumulative);
  return config.otlp_temporality == OtlpTemporality::kDelta ? otlp::Temporality::kDelta
                                                            : otlp::Temporality::kCumulative;
}

/// The URL of the server; only that of metrics in the environment has its path already.
std::string EndpointOf(const PushServer& configured, const otlp::Environment& environment, bool is_grpc) {
  const std::string_view standard = is_grpc ? "http://localhost:4317" : "http://localhost:4318";
  const std::string url =
      configured.endpoint.empty() ? environment.endpoint.value_or(std::string(standard)) : configured.endpoint;
  const bool is_complete = is_grpc || (configured.endpoint.empty() && environment.has_path);
  return is_complete ? url : otlp::MetricsUrl(url);
}

/// Fills what the configuration of `server` leaves open, except the endpoint.
void TakeEnvironment(const otlp::Environment& environment, PushServer& server, otlp::Compression& compression) {
  const auto take = [](auto& to, const auto& from) {
    if (to == std::remove_reference_t<decltype(to)>{} && from) to = *from;
  };
  take(server.interval, environment.interval);
  take(server.timeout, environment.timeout);
  take(server.ca_file, environment.ca_file);
  take(server.cert_file, environment.cert_file);
  take(server.key_file, environment.key_file);
  // Of the two values only "none" is known to be set: gzip is the default.
  if (environment.compression && compression == otlp::Compression::kGzip) compression = *environment.compression;
}

/// Logs which variables are used. A key of the configuration wins over its variable.
void LogUses(const otlp::Environment& environment, const Config& config) {
  const PushServer& configured = config.otlp;
  struct Key {
    std::string_view end_of_name, path;
    bool is_set;
  };
  const Key keys[] = {{"_ENDPOINT", "endpoint", !configured.endpoint.empty()},
                      {"_PROTOCOL", "protocol", config.otlp_protocol != OtlpProtocol::kAuto},
                      {"_PREFERENCE", "temporality", config.otlp_temporality != OtlpTemporality::kAuto},
                      {"_INTERVAL", "interval", configured.interval != Duration::zero()},
                      {"_TIMEOUT", "timeout", configured.timeout != Duration::zero()},
                      {"_CLIENT_CERTIFICATE", "tls.certFile", !configured.cert_file.empty()},
                      {"_CLIENT_KEY", "tls.keyFile", !configured.key_file.empty()},
                      {"_CERTIFICATE", "tls.caFile", !configured.ca_file.empty()}};
  for (const auto& use : environment.uses) {
    std::string reason = use.reason;
    const auto* const key = std::ranges::find_if(keys, [&](const Key& k) { return use.name.ends_with(k.end_of_name); });
    if (key != std::end(keys) && key->is_set) reason = fmt::format("exporter.otlp.{} is set", key->path);
    if (reason.empty())
      log::Info("environment variable is used", {{"name", use.name}});
    else
      log::Warn("environment variable is ignored", {{"name", use.name}, {"reason", reason}});
  }
}

/// `encoding`: of the bodies; requests of an earlier run with another one cannot be sent.
push::QueueOptions MakeQueue(const PushServer& server, std::string encoding) {
  return {.max_bytes = static_cast<uint64_t>(server.max_queue_bytes),
          .directory = server.queue_directory,
          .encoding = std::move(encoding)};
}

Result<push::Target> MakeOtlpTarget(const PushServer& server, bool is_grpc, bool is_gzip, std::string headers) {
  ClientRequest request;
  if (is_grpc) {
    request.target = otlp::kGrpcPath;
  } else {
    request.accept = request.content_type = "application/x-protobuf";
    if (is_gzip) request.headers.emplace_back("Content-Encoding", "gzip");
  }
  KEPLER_TRY(push::Target target,
             MakeTarget("otlp", {.section = "exporter.otlp", .url = "endpoint"}, server, std::move(request),
                        std::move(headers), is_grpc ? http::grpc::CheckHeader : http::client::CheckHeader));
  target.read_receipt = otlp::ReadReceipt;
  if (!is_grpc) return target;
  target.unsupported_hint = "the server may not accept metrics by OTLP over gRPC; check exporter.otlp.protocol: ";
  target.send = [sender = std::make_shared<otlp::GrpcSender>(is_gzip)](const auto&... call) {
    return sender->Send(call...);
  };
  return target;
}

otlp::Resource MakeResource(const Config& config, const BuildInfo& build, otlp::Resource given) {
  // A server may refuse a whole request for one text that is not UTF-8.
  for (auto& [key, value] : given) {
    key = LabelText(key);
    value = LabelText(value);
  }
  const auto add = [&given](std::string_view key, const std::string& value) {
    const bool is_there =
        std::ranges::find(given, key, [](const auto& pair) -> std::string_view { return pair.first; }) != given.end();
    if (!is_there && !value.empty()) given.emplace_back(key, LabelText(value));
  };
  add("service.name", "kepler");
  add("service.version", build.version);
  add("host.name", config.node_name);
  add("os.type", "linux");
  if (config.kube_enabled) add("k8s.node.name", config.node_name);
  return given;
}

}  // namespace

Result<std::unique_ptr<push::Pusher>> MakeOtlp(const Config& config, const BuildInfo& build,
                                               std::function<series::Reading()> read) {
  if (!config.otlp.enabled) return nullptr;
  const otlp::Environment environment = otlp::ReadEnvironment(Variable);
  LogUses(environment, config);
  const bool is_grpc = IsGrpc(config, environment);
  PushServer server = config.otlp;
  server.endpoint = EndpointOf(config.otlp, environment, is_grpc);
  if (config.otlp.endpoint.empty() && environment.endpoint)
    if (const auto url = http::client::ParseUrl(server.endpoint); !url)
      return Fail(url.error().kind, fmt::format("environment variable OTEL_EXPORTER_OTLP_{}ENDPOINT: {}",
                                                environment.has_path ? "METRICS_" : "", url.error().message));
  otlp::Compression compression = config.otlp_compression;
  TakeEnvironment(environment, server, compression);
  if (server.interval == Duration::zero()) server.interval = std::chrono::seconds(15);
  if (server.timeout == Duration::zero()) server.timeout = std::chrono::seconds(10);

  const bool is_gzip = compression == otlp::Compression::kGzip;
  KEPLER_TRY(push::Target target, MakeOtlpTarget(server, is_grpc, is_gzip, environment.headers.value_or("")));

  series::Selection selection = MakeRenderOptions(config, build).selection;
  // The names of OpenTelemetry are made from those of 0.11.
  selection.names = series::NameSet::kV011;
  selection.labels = series::LabelSet::kV011;
  auto encoder = std::make_shared<otlp::Encoder>(
      otlp::EncoderOptions{.resource = MakeResource(config, build, environment.resource),
                           .selection = std::move(selection),
                           .compression = compression,
                           .temporality = TemporalityOf(config, environment)},
      std::move(read));
  return std::make_unique<push::Pusher>(
      std::move(target), push::DeliveryOptions{.queue = MakeQueue(server, is_gzip ? "otlp gzip" : "otlp")},
      server.interval, [encoder](const std::function<void(push::Request)>& take) { encoder->Encode(take); },
      std::make_shared<SystemClock>());
}

Result<std::unique_ptr<push::Pusher>> MakeRemoteWrite(const Config& config, const BuildInfo& build,
                                                      std::function<series::Reading()> read) {
  const RemoteWrite& from = config.remote_write;
  if (!from.server.enabled) return nullptr;
  const bool is_v2 = from.version == 2;
  ClientRequest request;
  request.accept = "*/*";
  request.content_type =
      is_v2 ? "application/x-protobuf;proto=io.prometheus.write.v2.Request" : "application/x-protobuf";
  request.headers = {{"Content-Encoding", "snappy"}, {"X-Prometheus-Remote-Write-Version", is_v2 ? "2.0.0" : "0.1.0"}};
  KEPLER_TRY(push::Target target, MakeTarget("remote_write", {.section = "exporter.remoteWrite", .url = "url"},
                                             from.server, std::move(request)));
  if (is_v2) {
    target.written_header = "X-Prometheus-Remote-Write-Samples-Written";
    target.unsupported_hint =
        "the server may not accept remote write 2.0; set exporter.remoteWrite.version to 1 if it does not: ";
  }
  const prometheus::RenderOptions page = MakeRenderOptions(config, build);
  auto writer = std::make_shared<remote_write::RequestWriter>(
      remote_write::WriterOptions{.version = is_v2 ? remote_write::Version::k2 : remote_write::Version::k1,
                                  .selection = page.selection,
                                  .node_name = page.node_name,
                                  .job = LabelText(from.job),
                                  .instance = from.instance.empty() ? page.node_name : LabelText(from.instance)},
      std::move(read));
  push::DeliveryOptions options{.queue = MakeQueue(from.server, is_v2 ? "remote_write 2" : "remote_write 1")};
  // As the specification says: all server errors, and 429.
  options.retry.statuses.resize(100);
  std::iota(options.retry.statuses.begin(), options.retry.statuses.end(), 500U);
  options.retry.statuses.push_back(429);
  return std::make_unique<push::Pusher>(
      std::move(target), std::move(options), from.server.interval,
      [writer](const std::function<void(push::Request)>& take) { writer->Encode(take); },
      std::make_shared<SystemClock>());
}

std::unique_ptr<json_lines::FileExporter> MakeJsonLines(const Config& config, std::function<series::Reading()> read) {
  const JsonLines& from = config.json_lines;
  if (from.path.empty()) return nullptr;
  json_lines::FileOptions options{
      .path = from.path,
      .limits = {.max_bytes = static_cast<uint64_t>(from.max_size), .max_files = static_cast<unsigned>(from.max_files)},
      .interval = from.interval,
      .lines = {.node = config.node_name, .levels = config.metrics_level.bits}};
  log::Info("writing JSON lines", {{"path", from.path}});
  return std::make_unique<json_lines::FileExporter>(std::move(options), std::move(read),
                                                    std::make_shared<SystemClock>());
}

uint64_t PushDescriptors(const Config& config) {
  constexpr uint64_t kExporter = 2;   // the connection or file, and a file that is read
  constexpr uint64_t kDirectory = 4;  // the directory, its lock, its list, and a request
  uint64_t count = config.json_lines.path.empty() ? 0 : kExporter;
  for (const PushServer* const server : {&config.otlp, &config.remote_write.server})
    if (server->enabled) count += kExporter + (server->queue_directory.empty() ? 0 : kDirectory);
  return count;
}

}  // namespace kepler::agent
