#include "report/command/report_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/parse.h"
#include "base/small_file.h"
#include "base/unique_fd.h"

namespace kepler::report::command {
namespace {

/// Returns the open file that a name such as /dev/stdout means. Opened by that name, a file would be written from its
/// begin (proc(5), /proc/PID/fd).
std::optional<int> DescriptorOf(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"})
    if (path.starts_with(directory)) return ParseNumber<int>(path.substr(directory.size()));
  return std::nullopt;
}

/// Returns an error unless the file is open for writing.
Status CheckDescriptor(int descriptor, const std::string& path) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? Status() : FailErrno("write", path, EBADF);
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

/// Returns true for a device or a pipe, which is written directly, and false if `path` is replaced. An error if neither
/// is possible.
Result<bool> IsDirect(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return false;
  if (S_ISLNK(info.st_mode))
    return Fail(ErrorKind::kInvalid,
                fmt::format("cannot write {}: it is a symbolic link; name its target, or remove the link", path));
  if (S_ISDIR(info.st_mode)) return FailErrno("write", path, EISDIR);
  return !S_ISREG(info.st_mode);
}

}  // namespace

Status CheckReportPath(const std::string& path) {
  if (path.empty()) return {};
  if (const auto descriptor = DescriptorOf(path)) return CheckDescriptor(*descriptor, path);
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
  if (const auto descriptor = DescriptorOf(path)) {
    KEPLER_CHECK_OK(CheckDescriptor(*descriptor, path));
    return WriteAll(*descriptor, path, text);
  }
  KEPLER_TRY(const bool is_direct, IsDirect(path));
  if (is_direct) {
    KEPLER_TRY(const UniqueFd file, OpenDirectly(path));
    return WriteAll(file.get(), path, text);
  }
  return ReplaceFile(path, DirectoryOf(path) / fmt::format(".kepler.{}.tmp", ::getpid()), text);
}

}  // namespace kepler::report::command
