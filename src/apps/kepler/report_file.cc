#include "apps/kepler/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/small_file.h"
#include "base/unique_fd.h"

namespace kepler::agent {
namespace {

/// Returns true for a device, a pipe, or a link of the system such as /dev/stdout.
bool IsWrittenDirectly(const std::string& path, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return path.starts_with("/dev/") || path.starts_with("/proc/");
  return !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Status WriteStream(std::FILE* stream, const std::string& name, const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  return is_written ? Status() : FailErrno("write", name, errno);
}

/// Opens a device or pipe. A pipe without a reader is an error, because a blocking open would ignore signals.
Result<UniqueFd> OpenDirectly(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() && errno == ENXIO)
    return Fail(ErrorKind::kInvalid, fmt::format("cannot write {}: it is a pipe that no process reads", path));
  if (!file.valid()) return FailErrno("open", path);
  if (::fcntl(file.get(), F_SETFL, 0) != 0) return FailErrno("open", path);
  return file;
}

std::filesystem::path DirectoryOf(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

/// Returns true if `path` is written directly, and false if it is replaced. An error if neither is possible.
Result<bool> IsDirect(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return false;
  if (IsWrittenDirectly(path, info)) return true;
  if (S_ISLNK(info.st_mode))
    return Fail(ErrorKind::kInvalid,
                fmt::format("cannot write {}: it is a symbolic link; name its target, or remove the link", path));
  if (S_ISDIR(info.st_mode)) return FailErrno("write", path, EISDIR);
  return false;
}

}  // namespace

Status CheckReportPath(const std::string& path) {
  if (path.empty()) return {};
  KEPLER_TRY(const bool is_direct, IsDirect(path));
  if (is_direct) {
    KEPLER_CHECK_OK(OpenDirectly(path));
    return {};
  }
  const std::string directory = DirectoryOf(path);
  return ::access(directory.c_str(), W_OK | X_OK) == 0 ? Status() : FailErrno("write to the directory", directory);
}

Status WriteReport(const std::string& path, std::FILE* stream, const std::string& text) {
  if (path.empty()) return WriteStream(stream, "the report", text);
  KEPLER_TRY(const bool is_direct, IsDirect(path));
  if (is_direct) {
    KEPLER_TRY(const UniqueFd file, OpenDirectly(path));
    return WriteAll(file.get(), path, text);
  }
  return ReplaceFile(path, DirectoryOf(path) / fmt::format(".kepler.{}.tmp", ::getpid()), text);
}

}  // namespace kepler::agent
