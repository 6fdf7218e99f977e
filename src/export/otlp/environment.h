#pragma once
// The exporter in OpenTelemetry's environment variables: OTEL_EXPORTER_OTLP_*
// and others. Source: the specification's pages on the OTLP exporter
// (protocol/exporter.md) and on SDK variables. Pure.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "export/otlp/metrics_writer.h"
#include "export/otlp/request_builder.h"

namespace kepler::otlp {

enum class Protocol : uint8_t { kHttp, kGrpc };

/// Values that are set.
struct Environment {
  std::optional<std::string> endpoint{};  // URL
  bool has_path = false;                  // the URL is that of metrics, with its path
  std::optional<Protocol> protocol{};
  std::optional<std::string> headers{};  // for push::AddHeaderPairs()
  std::optional<Nanoseconds> interval{}, timeout{};
  std::optional<Compression> compression{};
  std::optional<Temporality> temporality{};
  std::optional<std::string> ca_file{}, cert_file{}, key_file{};
  Resource resource{};  // of OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME

  struct Use {
    std::string name;
    std::string reason;  // why it is ignored; empty if it is used
  };
  std::vector<Use> uses{};  // of each name that is set, never with its value
};

/// `value` returns the text of a name; empty if it is not set. A name for
/// metrics wins over the name for all signals.
[[nodiscard]] Environment ReadEnvironment(const std::function<std::string(std::string_view)>& value);

/// `endpoint` with /v1/metrics, unless it ends in that path.
[[nodiscard]] std::string MetricsUrl(std::string_view endpoint);

}  // namespace kepler::otlp
