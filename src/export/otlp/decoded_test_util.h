#pragma once
// Reads OTLP requests without the library that writes them: the data points as lines.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "testing/wire_message.h"

namespace kepler::otlp {

using testing::WireMessage;

/// "key=value key=value" of the repeated KeyValue `field`.
inline std::string AttributesOf(const WireMessage& message, uint32_t field) {
  std::string text;
  for (const WireMessage& pair : message.All(field))
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", pair.Text(1), pair.One(2).Text(1));
  return text;
}

/// The data points of a request, one per line: "name[unit] sum|gauge
/// {attributes} value start..time".
inline std::vector<std::string> LinesOf(std::string_view request, uint64_t temporality = 2) {
  std::vector<std::string> lines;
  const auto add = [&](const WireMessage& metric) {
    const bool is_sum = metric.Has(7);
    const WireMessage data = metric.One(is_sum ? 7 : 5);
    if (is_sum && (data.Number(2) != temporality || data.Number(3) != 1)) throw std::runtime_error("another counter");
    for (const WireMessage& point : data.All(1)) {
      const std::string value = point.Has(6) ? fmt::format("{}", static_cast<int64_t>(point.Number(6)))
                                             : fmt::format("{}", std::bit_cast<double>(point.Number(4)));
      lines.push_back(fmt::format("{}[{}] {} {{{}}} {} {}..{}", metric.Text(1), metric.Text(3),
                                  is_sum ? "sum" : "gauge", AttributesOf(point, 7), value, point.Number(2),
                                  point.Number(3)));
    }
  };
  for (const WireMessage& resource : WireMessage(request).All(1))
    for (const WireMessage& scope : resource.All(2))
      for (const WireMessage& metric : scope.All(2)) add(metric);
  return lines;
}

}  // namespace kepler::otlp
