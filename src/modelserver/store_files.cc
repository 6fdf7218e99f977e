#include "modelserver/store_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "modelserver/model_index.h"

namespace kepler::modelserver {
namespace {

/// Limits of a scan.
constexpr int kMaxDepth = 8;
constexpr size_t kMaxFiles = 200'000;

/// Removes the last name of a path and returns it.
std::string_view TakeLast(std::string_view& path) {
  const size_t slash = path.rfind('/');
  const std::string_view last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  return last;
}

/// Returns true for a file that a scan stamps: everything else in the tree may change without a new index.
bool IsOfInterest(std::string_view relative) {
  std::string_view directory = relative;
  const std::string_view name = TakeLast(directory);
  if (name == kOwnFile || name == kSignatureFile || name == kTypesFile) return true;
  return (name.ends_with(".zip") || name.ends_with(".json")) && ParseUpstream(relative);
}

class Lister {
 public:
  explicit Lister(const std::string& root) : root_(root) {}

  Result<Stamps> List() {
    KEPLER_CHECK_OK(Walk(AT_FDCWD, root_.c_str(), "", 0));
    return std::move(stamps_);
  }

 private:
  using Directory = std::unique_ptr<DIR, Freer<closedir>>;

  [[nodiscard]] std::unexpected<Error> FailList() const { return FailErrno("list", root_); }

  Status Walk(int parent, const char* name, const std::string& prefix, int depth) {
    UniqueFd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid() && errno == EACCES && depth > 0) return {};
    if (!fd.valid()) return FailList();
    const Directory directory(fdopendir(fd.get()));
    if (directory == nullptr) return FailList();
    (void)fd.Release();
    open_.push_back(dirfd(directory.get()));
    for (;;) {
      errno = 0;
      const dirent* const entry = readdir(directory.get());
      if (entry == nullptr) break;
      KEPLER_CHECK_OK(Visit(open_.back(), *entry, prefix, depth));
    }
    if (errno != 0) return FailList();
    open_.pop_back();
    return {};
  }

  /// Returns true for a directory that a link leads back to.
  [[nodiscard]] bool IsOpen(const struct stat& directory) const {
    return std::ranges::any_of(open_, [&](int fd) {
      struct stat info{};
      return fstat(fd, &info) == 0 && info.st_dev == directory.st_dev && info.st_ino == directory.st_ino;
    });
  }

  Status Visit(int parent, const dirent& entry, const std::string& prefix, int depth) {
    const char* const name = entry.d_name;
    if (*name == '.') return {};
    if (++files_ > kMaxFiles)
      return Fail(ErrorKind::kInvalid, fmt::format("{}: it has more than {} files", root_, kMaxFiles));
    const std::string relative = prefix + name;
    const bool is_of_interest = IsOfInterest(relative);
    if (entry.d_type == DT_REG && !is_of_interest) return {};
    struct stat info{};
    const bool is_directory = entry.d_type == DT_DIR || (fstatat(parent, name, &info, 0) == 0 && S_ISDIR(info.st_mode));
    if (is_of_interest) AddStamp(relative, info);
    if (!is_directory || (entry.d_type != DT_DIR && IsOpen(info))) return {};
    // A publish replaces the link to a version. The version that is listed next may be removed meanwhile.
    if (entry.d_type != DT_DIR)
      for (const char* const file : {kOwnFile, kSignatureFile})
        if (fstatat(parent, fmt::format("{}/{}", name, file).c_str(), &info, 0) == 0)
          AddStamp(fmt::format("{}/{}", relative, file), info);
    return depth < kMaxDepth ? Walk(parent, name, relative + '/', depth + 1) : Status();
  }

  /// Also for pipes and devices, which no index can read. A file that is gone has no mode.
  void AddStamp(const std::string& path, const struct stat& info) {
    if (info.st_mode != 0 && !S_ISDIR(info.st_mode)) stamps_.emplace(path, StampOf(info));
  }

  const std::string& root_;
  std::vector<int> open_;  // the directory that is read, and those above it
  Stamps stamps_;
  size_t files_ = 0;
};

}  // namespace

std::optional<UpstreamPath> ParseUpstream(std::string_view relative) {
  std::string_view rest = relative;
  const std::string_view file = TakeLast(rest);
  const std::string_view group = TakeLast(rest);
  const auto output = model::OutputTypeOf(TakeLast(rest));
  const std::string_view source = TakeLast(rest);
  if (!output || source.empty()) return std::nullopt;
  return UpstreamPath{.pipeline_dir = std::string(rest),
                      .source = NormalSource(source),
                      .output = *output,
                      .group = std::string(group),
                      .name = std::string(file.substr(0, file.rfind('.')))};
}

Result<Stamps> ListStore(const std::string& root) { return Lister(root).List(); }

}  // namespace kepler::modelserver
