#include "modelserver/jobs/trained_models.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/small_file.h"
#include "lab/files/archive.h"

namespace kepler::modelserver::jobs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{32} << 20;

/// Links are left out.
Result<std::vector<fs::path>> FilesBelow(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const char* const part : {"abs", "dyn"}) {
    if (!fs::is_directory(directory / part)) continue;
    for (fs::recursive_directory_iterator at(directory / part, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error))
      if (fs::is_regular_file(at->symlink_status())) files.push_back(at->path());
  }
  if (error) return FailErrno("read", directory.string(), error.value());
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::string> ArchiveOfTrained(const std::string& directory) {
  KEPLER_TRY(const auto files, FilesBelow(directory));
  if (files.empty()) return Fail(ErrorKind::kNotFound, "no model was trained");
  std::vector<lab::files::Member> members;
  for (const fs::path& file : files) {
    std::string name = file.lexically_relative(directory).string();
    std::ranges::replace(name, '/', '-');
    KEPLER_TRY(std::string bytes, ReadSmallFile(file.string(), kMaxFileBytes));
    members.push_back({std::move(name), std::move(bytes)});
  }
  return lab::files::WriteArchive(members);
}

}  // namespace kepler::modelserver::jobs
