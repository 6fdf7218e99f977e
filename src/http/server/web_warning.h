#pragma once
// A web file that works and does less than its author may think.
#include <cstdint>
#include <string>

#include "http/server/web_config.h"

namespace kepler::http {

/// By whom the server can be reached.
enum class Reach : uint8_t { kThisMachine, kNetwork };

/// What to say of the file at `path`, in one line; "" where all is well.
[[nodiscard]] std::string WebWarning(const WebConfig& config, const std::string& path, Reach reach);

}  // namespace kepler::http
