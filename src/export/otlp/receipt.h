#pragma once
// The answer of an OTLP server: ExportMetricsServiceResponse in protobuf. Pure.
#include <string_view>

#include "base/result.h"
#include "export/push/delivery.h"

namespace kepler::otlp {

/// kMalformed for anything else. The message is not sanitized.
[[nodiscard]] Result<push::Receipt> ReadReceipt(std::string_view answer);

}  // namespace kepler::otlp
