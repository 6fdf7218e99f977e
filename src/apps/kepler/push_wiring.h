#pragma once
// Makes the exporters that send to a server or write a file, from the configuration and OpenTelemetry's environment
// variables.
#include <cstdint>
#include <functional>
#include <memory>

#include "apps/kepler/config.h"
#include "base/build_info.h"
#include "base/result.h"
#include "export/json_lines/file_exporter.h"
#include "export/otlp/encoder.h"
#include "export/push/pusher.h"

namespace kepler::agent {

/// Null if exporter.otlp is off. `read` is called by the exporter's thread before each push, until its Stop(). Logs
/// which environment variables are used and ignored. Errors: a URL, header or certificate that cannot be used; the
/// message begins with the path of the key, or names the variable.
[[nodiscard]] Result<std::unique_ptr<push::Pusher>> MakeOtlp(const Config& config, const BuildInfo& build,
                                                             std::function<series::Reading()> read);

/// Null if exporter.remoteWrite is off. Otherwise as MakeOtlp(), without the environment.
[[nodiscard]] Result<std::unique_ptr<push::Pusher>> MakeRemoteWrite(const Config& config, const BuildInfo& build,
                                                                    std::function<series::Reading()> read);

/// Null if exporter.jsonLines.path is empty. `read` as above.
[[nodiscard]] std::unique_ptr<json_lines::FileExporter> MakeJsonLines(const Config& config,
                                                                      std::function<series::Reading()> read);

/// File descriptors that these exporters have open at the same time, at most. They open them on their own threads, when
/// clients may already take descriptors.
[[nodiscard]] uint64_t PushDescriptors(const Config& config);

}  // namespace kepler::agent
