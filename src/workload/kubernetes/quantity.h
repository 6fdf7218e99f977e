#pragma once
// Quantities as Kubernetes writes them: "100m", "0.5", "2", "1.5Gi", "1e3". Pure.
#include <cstdint>
#include <optional>
#include <string_view>

namespace kepler::workload::kubernetes {

/// `text` in thousandths, rounded up as Kubernetes does; at most 2^63 of them. Nothing for what is no quantity,
/// negative, or has more digits than a double. apimachinery, pkg/api/resource/quantity.go: a number, then a decimal
/// suffix (n u m k M G T P E), a binary one (Ki Mi Gi Ti Pi Ei) or a decimal exponent (e3, E-3).
[[nodiscard]] std::optional<uint64_t> ParseThousandths(std::string_view text);

}  // namespace kepler::workload::kubernetes
