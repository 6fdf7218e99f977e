#include "apps/kepler-model/decisions.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "apps/kepler-model/commands.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/small_file.h"
#include "json/document.h"
#include "lab/files/model_file.h"
#include "modelserver/publisher.h"

namespace kepler::lab::tool {
namespace {

constexpr char kDecisions[] = "/decisions.jsonl";
constexpr size_t kMaxDecisionBytes = size_t{16} << 20;

std::string JsonOf(const Decision& of, const std::string& name) {
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "null"; };
  const double now = std::chrono::duration<double>(SystemClock().Wall().time_since_epoch()).count();
  return fmt::format(
      R"({{"time":{:.0f},"name":{},"old_version":{},"new_version":{},"old_mae":{},"new_mae":{},"rows":{},)"
      R"("trained_until":{:.3f},"published":{},"reason":{}}})",
      now, json::Quote(name), of.old_version, of.new_version, number(of.old_mae), number(of.new_mae), of.rows,
      of.trained_until, of.is_published, json::Quote(of.reason));
}

}  // namespace

std::string ModelInStore::Published() const { return fmt::format("{}/models/{}{}", store, name, files::kModelFile); }
std::string ModelInStore::Versions() const { return store + "/.versions/" + name; }

Status Remember(const ModelInStore& of, const Decision& decision) {
  const std::string path = of.Versions() + kDecisions;
  std::error_code error;
  std::filesystem::create_directories(of.Versions(), error);
  if (error) return FailErrno("create", of.Versions(), error.value());
  const std::string line = JsonOf(decision, of.name);
  std::ofstream file(path, std::ios::app);
  file << line << '\n' << std::flush;
  if (!file) return FailErrno("write", path);
  if (struct stat owner{}; geteuid() == 0 && stat(of.store.c_str(), &owner) == 0 && owner.st_uid != 0)
    Note(
        fmt::format("{} belongs to the user {}, and root has published: the server may not be able to publish {} "
                    "again; give {} and {} to that user",
                    of.store, owner.st_uid, of.name, of.Versions(), of.store + "/.locks"));
  return PrintResult(line + "\n");
}

uint32_t NextVersion(const ModelInStore& of, uint32_t published) {
  const auto kept = modelserver::KeptVersions(of.store, of.name);
  return std::max(published, kept.empty() ? 0 : kept.back().version) + 1;
}

double TrainedUntil(const ModelInStore& of, uint32_t version) {
  const auto text = ReadSmallFile(of.Versions() + kDecisions, kMaxDecisionBytes);
  if (!text) return 0;
  double until = 0;
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next()) {
    const auto document = json::Parse(*line);
    if (!document) continue;
    const json::Cursor root(*document);
    const auto published = root.Member("published");
    if (!published || !published->Bool().value_or(false) || root.Number("new_version").value_or(0) != version) continue;
    until = root.Number("trained_until").value_or(0);
  }
  return until;
}

}  // namespace kepler::lab::tool
