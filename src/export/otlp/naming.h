#pragma once
// Names of OpenTelemetry's semantic conventions (1.38) for families and labels.
// What has no convention keeps its Prometheus name without _total, so that a
// Prometheus behind a collector shows the same name as a scrape. Pure.
#include <string_view>

#include "export/series/family.h"

namespace kepler::otlp {

struct Naming {
  std::string_view name;     // "" for families that describe only one page of /metrics
  std::string_view unit;     // UCUM: "J", "W", "s", "By", "1"; "" for counts
  bool is_hardware = false;  // an hw.* metric, whose zone is the component:
                             // attributes hw.id and hw.type
};

[[nodiscard]] Naming NamingOf(const series::Family& family);
/// Attribute of a label; "" for node_name, which is in the resource.
[[nodiscard]] std::string_view AttributeOf(std::string_view label);
/// hw.type of a zone: "memory" or "cpu".
[[nodiscard]] std::string_view HardwareTypeOf(std::string_view zone);

}  // namespace kepler::otlp
