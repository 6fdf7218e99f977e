#include "apps/kepler/exporter_rules.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file_place.h"
#include "export/json_lines/rotating_file.h"
#include "export/push/request_directory.h"
#include "http/client/url.h"

namespace kepler::agent {
namespace {

namespace fs = std::filesystem;
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

/// Compares paths whose last parts may be missing. A reload does not look at the disk, because it must not wait for one
/// that hangs; it sees no links.
class PathRelations {
 public:
  explicit PathRelations(Moment moment) : looks_(moment == Moment::kStart) {}

  /// Returns where `one` is; "" if neither path is within the other.
  [[nodiscard]] std::string_view Of(const std::string& one, const std::string& other) const {
    const fs::path a = Resolve(one), b = Resolve(other);
    if (IsWithin(a, b)) return IsWithin(b, a) ? "is the same as" : "is within";
    return IsWithin(b, a) ? "contains" : "";
  }

 private:
  [[nodiscard]] fs::path Resolve(const std::string& path) const {
    fs::path given = WithoutEndSlashes(path);
    std::error_code failed;
    fs::path resolved = looks_ ? fs::weakly_canonical(given, failed) : given.lexically_normal();
    return failed ? given.lexically_normal() : resolved;
  }
  /// True also if the paths are the same.
  [[nodiscard]] bool IsWithin(fs::path inner, const fs::path& outer) const {
    while (true) {
      std::error_code failed;
      if (inner == outer || (looks_ && fs::equivalent(inner, outer, failed))) return true;
      if (!inner.has_relative_path()) return false;
      inner = inner.parent_path();
    }
  }

  bool looks_;
};

/// Who removes or moves a queue must not remove or move files of another exporter with it.
void CheckPlacesAreApart(Draft& draft, const Config& config, Moment moment) {
  struct Place {
    std::string_view key;
    const std::string& path;
  };
  const Place places[] = {{"exporter.otlp.queueDirectory", config.otlp.queue_directory},
                          {"exporter.remoteWrite.queueDirectory", config.remote_write.server.queue_directory},
                          {"exporter.jsonLines.path", config.json_lines.path}};
  const PathRelations relations(moment);
  for (const Place& other : places)
    for (const Place& place : std::span(&other + 1, std::end(places))) {
      if (place.path.empty() || other.path.empty()) continue;
      if (const std::string_view relation = relations.Of(place.path, other.path); !relation.empty())
        draft.Reject(place.key, fmt::format("{} {}; set another path", relation, other.key));
    }
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
  CheckPlacesAreApart(draft, config, moment);
  if (moment == Moment::kStart) CheckPlaces(draft, config);
}

}  // namespace kepler::agent
