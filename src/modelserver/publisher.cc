#include "modelserver/publisher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/parse.h"
#include "base/small_file.h"
#include "base/unique_fd.h"
#include "lab/files/files.h"
#include "model/model_json.h"
#include "model/sha256.h"
#include "modelserver/model_index.h"
#include "modelserver/store_lock.h"
#include "modelserver/training_facts.h"

namespace kepler::modelserver {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMaxVersion = UINT32_MAX;

struct Places {
  fs::path link;      // models/NAME
  fs::path next;      // models/.NAME: the link before it gets its name
  fs::path versions;  // .versions/NAME
};

Places PlacesOf(const std::string& root, std::string_view name) {
  const fs::path models = fs::path(root) / "models";
  return {.link = models / name,
          .next = models / fmt::format(".{}", name),
          .versions = fs::path(root) / ".versions" / name};
}

Status MakeDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return FailErrno("create", path.string(), error.value());
  return {};
}

/// What is published; nothing if there is no such model.
Result<std::optional<std::string>> ReadPublished(const fs::path& link) {
  if (std::error_code ignored; fs::is_directory(fs::symlink_status(link, ignored)))
    return Fail(
        ErrorKind::kInvalid,
        "the store has a directory of this name that was not uploaded; use another name, or remove it from the store");
  auto text = ReadSmallFile((link / kOwnFile).string(), kMaxUploadBytes);
  if (text) return *std::move(text);
  if (text.error().kind == ErrorKind::kNotFound) return std::nullopt;
  return std::unexpected(text.error());
}

/// Checks that nobody has published since the publisher read `replaced`.
Status CheckReplaced(const std::optional<std::string>& published, std::string_view replaced) {
  if (published.value_or("") == replaced) return {};
  return Fail(ErrorKind::kUnavailable, "another process has published a version meanwhile; run the command again");
}

/// Checks that `next` may follow the published text. A published text that somebody has broken may be replaced.
Status CheckVersion(const std::string& published, uint32_t next) {
  const auto model = model::ReadModelJson(published);
  if (!model || model->version < next) return {};
  return Fail(ErrorKind::kUnavailable,
              fmt::format("version {} is published; a new model needs a larger version than {}", model->version, next));
}

Status WriteVersion(const fs::path& directory, const Upload& upload) {
  std::vector<lab::files::OutputFile> files;
  if (upload.trained_until > 0)
    files.push_back({(directory / kTrainingFile).string(), TrainingText(upload.trained_until)});
  files.push_back({(directory / kOwnFile).string(), std::string(upload.json)});
  if (!upload.signature.empty())
    files.push_back({(directory / kSignatureFile).string(), std::string(upload.signature)});
  return lab::files::WriteFiles(files);
}

Status Sync(const fs::path& directory) {
  const UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || fsync(fd.get()) != 0) return FailErrno("sync", directory.string());
  return {};
}

/// Syncs `directory` and the directories above it, `levels` in all: a new directory is an entry of the one above it.
Status SyncUp(fs::path directory, int levels) {
  for (; levels > 0; --levels, directory = directory.parent_path()) KEPLER_CHECK_OK(Sync(directory));
  return {};
}

/// Makes models/NAME a link to `directory`, in one step.
Status ReplaceLink(const Places& places, const fs::path& directory) {
  KEPLER_CHECK_OK(MakeDirectories(places.link.parent_path()));
  const fs::path target = directory.lexically_relative(places.link.parent_path());
  if (unlink(places.next.c_str()) != 0 && errno != ENOENT) return FailErrno("remove", places.next.string());
  if (symlink(target.c_str(), places.next.c_str()) != 0) return FailErrno("create", places.next.string());
  if (std::rename(places.next.c_str(), places.link.c_str()) != 0) return FailErrno("rename", places.next.string());
  return SyncUp(places.link.parent_path(), 2);
}

/// The number of "v12-0a1b…"; nothing for other names.
std::optional<uint32_t> VersionOf(const fs::path& directory) {
  const std::string name = directory.filename().string();
  if (!name.starts_with('v')) return std::nullopt;
  return ParseNumber<uint32_t>(std::string_view(name).substr(1, name.find('-') - 1));
}

/// Removes the oldest versions beyond kKeptVersions. `published` stays. Errors are ignored: the next publish tries
/// again.
void RemoveOldVersions(const fs::path& versions, const fs::path& published) {
  std::error_code ignored;
  std::vector<std::pair<uint32_t, fs::path>> old;
  for (fs::directory_iterator at(versions, ignored); at != fs::directory_iterator(); at.increment(ignored))
    if (const auto version = VersionOf(at->path()); version && at->path() != published)
      old.emplace_back(*version, at->path());
  std::ranges::sort(old, std::greater());
  for (size_t i = kKeptVersions - 1; i < old.size(); ++i) fs::remove_all(old[i].second, ignored);
}

}  // namespace

Result<Published> Publish(const std::string& root, const Upload& upload) {
  if (!IsModelName(upload.name)) return Fail(ErrorKind::kInvalid, NoModelName(upload.name));
  if (upload.signature.size() > kMaxSignatureBytes) return Fail(ErrorKind::kMalformed, "the signature is too long");
  KEPLER_TRY(const model::PowerModel model, model::ReadModelJson(upload.json));
  if (model.version == kMaxVersion)
    return Fail(ErrorKind::kInvalid, fmt::format("version {} leaves no number for a later version", kMaxVersion));
  Published result{.version = model.version, .sha256 = model::Sha256(upload.json), .is_new = true};
  const Places places = PlacesOf(root, upload.name);
  KEPLER_TRY(const auto lock, StoreLock::Take(root, upload.name, upload.publisher, upload.patience));
  KEPLER_TRY(const auto published, ReadPublished(places.link));
  if (upload.replaced) KEPLER_CHECK_OK(CheckReplaced(published, *upload.replaced));
  result.is_new = !published || *published != upload.json;
  if (published && result.is_new) KEPLER_CHECK_OK(CheckVersion(*published, model.version));
  constexpr size_t kDigits = 12;
  const fs::path directory = places.versions / fmt::format("v{}-{}", model.version, result.sha256.substr(0, kDigits));
  KEPLER_CHECK_OK(WriteVersion(directory, upload));
  KEPLER_CHECK_OK(SyncUp(directory, 4));  // .versions/NAME/VERSION and the root
  KEPLER_CHECK_OK(ReplaceLink(places, directory));
  RemoveOldVersions(places.versions, directory);
  return result;
}

std::vector<KeptVersion> KeptVersions(const std::string& root, std::string_view name) {
  std::vector<KeptVersion> kept;
  std::error_code ignored;
  for (fs::directory_iterator at(PlacesOf(root, name).versions, ignored); at != fs::directory_iterator();
       at.increment(ignored)) {
    auto json = ReadSmallFile((at->path() / kOwnFile).string(), kMaxUploadBytes);
    const auto model = json ? model::ReadModelJson(*json) : std::unexpected(json.error());
    if (!model || !VersionOf(at->path())) continue;
    kept.push_back(
        {.version = model->version,
         .directory = at->path().string(),
         .json = *std::move(json),
         .signature = ReadSmallFile((at->path() / kSignatureFile).string(), kMaxSignatureBytes).value_or("")});
  }
  std::ranges::sort(kept, {}, [](const KeptVersion& of) { return std::tie(of.version, of.directory); });
  return kept;
}

Status PublishAgain(const std::string& root, std::string_view name, const KeptVersion& version,
                    std::string_view replaced, std::string_view publisher) {
  const Places places = PlacesOf(root, name);
  KEPLER_TRY(const auto lock, StoreLock::Take(root, name, publisher, kPublishWait));
  KEPLER_TRY(const auto published, ReadPublished(places.link));
  KEPLER_CHECK_OK(CheckReplaced(published, replaced));
  const auto kept = ReadSmallFile((fs::path(version.directory) / kOwnFile).string(), kMaxUploadBytes);
  if (!kept || *kept != version.json)
    return Fail(ErrorKind::kUnavailable, fmt::format("version {} was removed or changed meanwhile", version.version));
  return ReplaceLink(places, version.directory);
}

}  // namespace kepler::modelserver
