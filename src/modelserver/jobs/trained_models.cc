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
  for (const char* const part : {"abs", "dyn"}) {
    std::error_code error;
    if (fs::status(directory / part, error).type() == fs::file_type::not_found) continue;
    fs::recursive_directory_iterator at(directory / part, error);
    while (!error && at != fs::recursive_directory_iterator()) {
      const bool is_file = at->symlink_status(error).type() == fs::file_type::regular;
      if (is_file) files.push_back(at->path());
      if (!error) at.increment(error);
    }
    if (error) return FailErrno("read", (directory / part).string(), error.value());
  }
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
