#include "apps/kepler-model/decisions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "apps/kepler-model/commands.h"
#include "base/clock.h"
#include "base/small_file.h"
#include "base/unique_fd.h"
#include "lab/files/model_file.h"
#include "modelserver/publisher.h"
#include "modelserver/training_facts.h"

namespace kepler::lab::tool {

std::string ModelInStore::Link() const { return fmt::format("{}/models/{}", store, name); }
std::string ModelInStore::Published() const { return Link() + files::kModelFile; }
std::string ModelInStore::Versions() const { return store + "/.versions/" + name; }

namespace {

/// Adds a line. If the file ends in a line that a crash or a full disk cut, that is ended first, so it does not take
/// this one with it.
Status AppendLine(const std::string& path, std::string line) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0644));
  if (!file.valid()) return FailErrno("open", path);
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return FailErrno("stat", path);
  if (!S_ISREG(info.st_mode)) return Fail(ErrorKind::kInvalid, "write " + path + ": it is not a regular file");
  char last = '\n';
  if (info.st_size > 0 && pread(file.get(), &last, 1, info.st_size - 1) < 0) return FailErrno("read", path);
  if (last != '\n') line.insert(0, "\n");
  return WriteAll(file.get(), path, line + "\n");
}

}  // namespace

Status Remember(const ModelInStore& of, const modelserver::Decision& decision) {
  const std::string path = of.Versions() + modelserver::kDecisionsFile;
  std::error_code error;
  std::filesystem::create_directories(of.Versions(), error);
  if (error) return FailErrno("create", of.Versions(), error.value());
  modelserver::Decision dated = decision;
  dated.time = std::chrono::duration<double>(SystemClock().Wall().time_since_epoch()).count();
  const std::string line = modelserver::DecisionLine(dated, of.name);
  KEPLER_CHECK_OK(AppendLine(path, line));
  if (struct stat owner{}; geteuid() == 0 && stat(of.store.c_str(), &owner) == 0 && owner.st_uid != 0)
    Note(
        fmt::format("{} belongs to the user {}, and root has published: the server may not be able to publish {} "
                    "again; give {} and {} to that user",
                    of.store, owner.st_uid, of.name, of.Versions(), of.store + "/.locks"));
  return PrintResult(line + "\n");
}

Result<uint32_t> NextVersion(const ModelInStore& of, uint32_t published) {
  const auto kept = modelserver::KeptVersions(of.store, of.name);
  const uint32_t latest = std::max(published, kept.empty() ? 0 : kept.back().version);
  // The store refuses the largest number.
  if (latest >= UINT32_MAX - 1)
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("{}: version {} leaves no number for a later version; remove {}, publish the model as version 1 "
                    "and restart the agents that use it",
                    of.name, latest, of.Versions()));
  return latest + 1;
}

Result<double> TrainedUntil(const ModelInStore& of, const std::string& directory, uint32_t version) {
  KEPLER_TRY(double until, modelserver::TrainedUntil(directory));
  if (until > 0) return until;
  KEPLER_TRY(const auto decisions, modelserver::ReadDecisions(of.Versions() + modelserver::kDecisionsFile));
  for (const modelserver::Decision& decision : decisions)
    if (decision.is_published && decision.new_version == version) until = decision.trained_until;
  return until;
}

}  // namespace kepler::lab::tool
