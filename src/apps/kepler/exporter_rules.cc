#include "apps/kepler/exporter_rules.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file_place.h"
#include "export/json_lines/rotating_file.h"
#include "export/push/request_directory.h"
#include "http/client/url.h"

namespace kepler::agent {
namespace {

using settings::Draft;

void CheckMemory(Draft& draft, std::string_view section, const PushServer& server) {
  constexpr int64_t kMaxMemory = 1'000'000'000;
  if (server.queue_directory.empty() && server.max_queue_bytes > kMaxMemory)
    draft.Reject(fmt::format("{}.maxQueue", section),
                 fmt::format("{} bytes of memory are too many; set {}.queueDirectory, or at most {}",
                             server.max_queue_bytes, section, kMaxMemory));
}

/// The exporters go on without a place that may be repaired later, so only the others are errors.
void CheckPlace(Draft& draft, std::string_view key, const Status& usable) {
  if (usable) return;
  const std::string& reason = usable.error().message;
  if (usable.error().kind == ErrorKind::kInvalid) return draft.Reject(key, reason);
  draft.Warn(fmt::format("{}: {}", draft.Where(key), reason));
}

void CheckQueueDirectory(Draft& draft, std::string_view section, const PushServer& server) {
  if (server.enabled && !server.queue_directory.empty())
    CheckPlace(draft, fmt::format("{}.queueDirectory", section), push::CheckDirectory(server.queue_directory));
}

/// Directories may be missing; links before them are followed.
bool IsSameDirectory(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  const auto resolve = [](const std::string& path) {
    std::error_code failed;
    fs::path resolved = fs::weakly_canonical(WithoutEndSlashes(path), failed);
    return failed ? fs::path(WithoutEndSlashes(path)).lexically_normal() : resolved;
  };
  std::error_code failed;
  return resolve(one) == resolve(other) || fs::equivalent(one, other, failed);
}

/// Only at the start the disk is asked: a reload must not wait for one that hangs.
void CheckQueuesDiffer(Draft& draft, const Config& config, Moment moment) {
  const std::string& one = config.otlp.queue_directory;
  const std::string& other = config.remote_write.server.queue_directory;
  if (one.empty() || other.empty()) return;
  if (moment == Moment::kStart ? IsSameDirectory(one, other) : WithoutEndSlashes(one) == WithoutEndSlashes(other))
    draft.Reject("exporter.remoteWrite.queueDirectory", "is that of exporter.otlp; set another directory");
}

void CheckPlaces(Draft& draft, const Config& config) {
  CheckQueueDirectory(draft, "exporter.otlp", config.otlp);
  CheckQueueDirectory(draft, "exporter.remoteWrite", config.remote_write.server);
  const JsonLines& lines = config.json_lines;
  if (!lines.path.empty())
    CheckPlace(draft, "exporter.jsonLines.path",
               json_lines::CheckPath(lines.path, {.max_files = static_cast<unsigned>(lines.max_files)}));
}

void CheckRemoteWriteUrl(Draft& draft, const PushServer& server) {
  if (!server.enabled) return;
  if (server.endpoint.empty())
    return draft.Reject("exporter.remoteWrite.enabled",
                        "needs the URL of the server; set exporter.remoteWrite.url or --exporter.remote-write.url");
  const auto url = http::client::ParseUrl(server.endpoint);  // an invalid URL is an error where the exporter is made
  if (url && url->target.substr(0, url->target.find('?')) == "/")
    draft.Warn(
        fmt::format("{}: has no path; most servers need one: /api/v1/write (Prometheus, VictoriaMetrics), /api/v1/push "
                    "(Mimir), /api/v1/receive (Thanos)",
                    draft.Where("exporter.remoteWrite.url")));
}

}  // namespace

void CheckExporters(Draft& draft, const Config& config, Moment moment) {
  CheckMemory(draft, "exporter.otlp", config.otlp);
  CheckMemory(draft, "exporter.remoteWrite", config.remote_write.server);
  CheckRemoteWriteUrl(draft, config.remote_write.server);
  CheckQueuesDiffer(draft, config, moment);
  if (moment == Moment::kStart) CheckPlaces(draft, config);
}

}  // namespace kepler::agent
