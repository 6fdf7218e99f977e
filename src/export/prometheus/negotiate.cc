#include "export/prometheus/negotiate.h"

#include <optional>
#include <string>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::prometheus {
namespace {

/// One element of a weighted list: `value;name=x;q=0.5`.
struct Offer {
  std::string value;  // lower case
  std::string version;
  std::string proto;
  std::string encoding;
  double weight = 1.0;
};

std::string_view Unquote(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  return text;
}

/// Returns nothing if the element or its weight is malformed.
std::optional<Offer> ParseOffer(std::string_view element) {
  Splitter parts(element, ';');
  Offer offer{.value = ToLowerAscii(Trim(*parts.Next())), .version = {}, .proto = {}, .encoding = {}};
  if (offer.value.empty()) return std::nullopt;
  while (const auto part = parts.Next()) {
    const size_t equals = part->find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name = ToLowerAscii(Trim(part->substr(0, equals)));
    const std::string_view value = Unquote(Trim(part->substr(equals + 1)));
    if (name == "version") {
      offer.version = value;
    } else if (name == "proto") {
      offer.proto = value;
    } else if (name == "encoding") {
      offer.encoding = ToLowerAscii(value);
    } else if (name == "q") {
      const auto weight = ParseNumber<double>(value);
      if (!weight || !(*weight >= 0.0 && *weight <= 1.0)) return std::nullopt;
      offer.weight = *weight;
    }
  }
  return offer;
}

struct Served {
  Format format;
  bool exact;  // not a wildcard
};

std::optional<Served> WhatServes(const Offer& offer) {
  const std::string& version = offer.version;
  if (offer.value == "application/vnd.google.protobuf" && offer.proto == "io.prometheus.client.MetricFamily" &&
      (offer.encoding.empty() || offer.encoding == "delimited"))
    return Served{Format::kProtobuf, true};
  if (offer.value == "application/openmetrics-text" && (version.empty() || version == "1.0.0" || version == "0.0.1"))
    return Served{Format::kOpenMetrics100, true};
  if (offer.value == "text/plain" && (version.empty() || version == "0.0.4")) return Served{Format::kText004, true};
  if (offer.value == "text/*" || offer.value == "*/*") return Served{Format::kText004, false};
  return std::nullopt;
}

}  // namespace

Format NegotiateFormat(std::string_view accept) {
  Served best{Format::kText004, false};
  double best_weight = 0.0;
  Splitter elements(accept, ',');
  while (const auto element = elements.Next()) {
    const auto offer = ParseOffer(*element);
    if (!offer || offer->weight <= 0.0) continue;
    const auto served = WhatServes(*offer);
    if (!served) continue;
    const bool closer = offer->weight == best_weight && served->exact && !best.exact;
    if (offer->weight > best_weight || closer) {
      best = *served;
      best_weight = offer->weight;
    }
  }
  return best.format;
}

Encoding NegotiateEncoding(std::string_view accept_encoding) {
  std::optional<double> gzip;
  std::optional<double> identity;
  std::optional<double> any;
  Splitter elements(accept_encoding, ',');
  while (const auto element = elements.Next()) {
    const auto offer = ParseOffer(*element);
    if (!offer) continue;
    if (offer->value == "gzip" || offer->value == "x-gzip") gzip = offer->weight;
    if (offer->value == "identity") identity = offer->weight;
    if (offer->value == "*") any = offer->weight;
  }
  const double weight = gzip.value_or(any.value_or(0.0));
  return weight > 0.0 && weight >= identity.value_or(0.0) ? Encoding::kGzip : Encoding::kIdentity;
}

}  // namespace kepler::prometheus
