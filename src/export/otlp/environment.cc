#include "export/otlp/environment.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "export/push/header_text.h"

namespace kepler::otlp {
namespace {

constexpr std::string_view kPath = "/v1/metrics";

class Reader {
 public:
  Reader(const std::function<std::string(std::string_view)>& value, Environment& out) : value_(value), out_(out) {}

  /// Reads a variable of all signals and its variant for metrics, which wins.
  /// `parse` returns nothing for an invalid value.
  template <class T>
  void Option(std::string_view rest, std::optional<T>& to, const auto& parse, std::string_view wrong) {
    const std::string general = std::string("OTEL_EXPORTER_OTLP_").append(rest);
    const std::string special = std::string("OTEL_EXPORTER_OTLP_METRICS_").append(rest);
    Take(special, to, parse, wrong);
    if (to && !value_(general).empty())
      Note(general, special + " wins");
    else
      Take(general, to, parse, wrong);
  }
  template <class T>
  void Take(const std::string& name, std::optional<T>& to, const auto& parse, std::string_view wrong) {
    const std::string text(Trim(value_(name)));
    if (text.empty()) return;
    if (std::optional<T> parsed = parse(text)) {
      to = std::move(parsed);
      return Note(name, "");
    }
    Note(name, wrong);
  }
  /// For a variable that changes nothing, except if its value is `same`.
  void Unsupported(const std::string& name, std::string_view same, std::string_view reason) {
    if (const std::string text = value_(name); !text.empty()) Note(name, Trim(text) == same ? "" : reason);
  }
  void Note(std::string name, std::string_view reason) { out_.uses.push_back({std::move(name), std::string(reason)}); }

 private:
  const std::function<std::string(std::string_view)>& value_;
  Environment& out_;
};

std::optional<std::string> AsText(const std::string& text) { return text; }

std::optional<std::string> AsHeaders(const std::string& text) {
  http::client::ClientRequest request;
  return push::AddHeaderPairs(text, request) ? std::optional(text) : std::nullopt;
}

std::optional<Nanoseconds> AsMilliseconds(const std::string& text) {
  constexpr int64_t kDay = 86'400'000;
  const auto number = ParseNumber<int64_t>(text);
  if (!number || *number <= 0 || *number > kDay) return std::nullopt;
  return std::chrono::milliseconds(*number);
}

std::optional<Compression> AsCompression(const std::string& text) {
  if (text == "gzip") return Compression::kGzip;
  return text == "none" ? std::optional(Compression::kNone) : std::nullopt;
}

std::optional<Protocol> AsProtocol(const std::string& text) {
  if (text == "grpc") return Protocol::kGrpc;
  return text == "http/protobuf" ? std::optional(Protocol::kHttp) : std::nullopt;
}

/// `lowmemory` is cumulative for counters that are read when they are sent, as all of the agent's are.
std::optional<Temporality> AsTemporality(const std::string& text) {
  const std::string name = ToLowerAscii(text);
  if (name == "delta") return Temporality::kDelta;
  return name == "cumulative" || name == "lowmemory" ? std::optional(Temporality::kCumulative) : std::nullopt;
}

std::optional<Resource> AsResource(const std::string& text) {
  http::client::ClientRequest pairs;  // the format is that of headers, with any name
  if (!push::AddHeaderPairs(text, pairs, [](auto, auto) { return Status(); })) return std::nullopt;
  return std::move(pairs.headers);
}

void ReadUnsupported(Reader& read) {
  for (const std::string prefix : {"OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_METRICS_"}) {
    read.Unsupported(prefix + "INSECURE", "", "the scheme of the endpoint decides");
  }
  read.Unsupported("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "", "there are no histograms");
  read.Unsupported("OTEL_METRICS_EXPORTER", "otlp", "exporter.otlp.enabled decides");
}

}  // namespace

std::string MetricsUrl(std::string_view endpoint) {
  if (endpoint.ends_with(kPath)) return std::string(endpoint);
  if (endpoint.ends_with('/')) endpoint.remove_suffix(1);
  return std::string(endpoint).append(kPath);
}

Environment ReadEnvironment(const std::function<std::string(std::string_view)>& value) {
  Environment out;
  Reader read(value, out);
  constexpr std::string_view kNoTime = "it is not a number of milliseconds from 1 to one day";
  // The URL for metrics is complete; the URL for all signals is not.
  read.Take("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", out.endpoint, AsText, "");
  out.has_path = out.endpoint.has_value();
  if (out.has_path)
    read.Unsupported("OTEL_EXPORTER_OTLP_ENDPOINT", "", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT wins");
  else
    read.Take("OTEL_EXPORTER_OTLP_ENDPOINT", out.endpoint, AsText, "");
  read.Option("PROTOCOL", out.protocol, AsProtocol, "it is neither grpc nor http/protobuf");
  read.Option("HEADERS", out.headers, AsHeaders, "it is not a list of headers as name=value");
  read.Option("TIMEOUT", out.timeout, AsMilliseconds, kNoTime);
  read.Option("COMPRESSION", out.compression, AsCompression, "it is neither gzip nor none");
  read.Option("CERTIFICATE", out.ca_file, AsText, "");
  read.Option("CLIENT_CERTIFICATE", out.cert_file, AsText, "");
  read.Option("CLIENT_KEY", out.key_file, AsText, "");
  read.Take("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", out.temporality, AsTemporality,
            "it is neither cumulative, delta nor lowmemory");
  read.Take("OTEL_METRIC_EXPORT_INTERVAL", out.interval, AsMilliseconds, kNoTime);
  std::optional<Resource> resource;
  read.Take("OTEL_RESOURCE_ATTRIBUTES", resource, AsResource, "it is not a list of name=value");
  if (resource) out.resource = *std::move(resource);
  std::optional<std::string> service;
  read.Take("OTEL_SERVICE_NAME", service, AsText, "");
  if (service) {
    std::erase_if(out.resource, [](const auto& attribute) { return attribute.first == "service.name"; });
    out.resource.emplace_back("service.name", *std::move(service));
  }
  ReadUnsupported(read);
  return out;
}

}  // namespace kepler::otlp
