#include "apps/kepler/report_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/small_file.h"

namespace kepler::agent {
namespace {

/// A device, a pipe, or a link of the system such as /dev/stdout.
bool IsWrittenDirectly(const std::string& path, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return path.starts_with("/dev/") || path.starts_with("/proc/");
  return !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Status WriteStream(std::FILE* stream, const std::string& name, const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  return is_written ? Status() : FailErrno("write", name, errno);
}

}  // namespace

Status WriteReport(const std::string& path, std::FILE* stream, const std::string& text) {
  if (path.empty()) return WriteStream(stream, "the report", text);
  struct stat info{};
  const bool exists = ::lstat(path.c_str(), &info) == 0;
  if (exists && IsWrittenDirectly(path, info)) {
    std::FILE* const file = std::fopen(path.c_str(), "we");
    if (file == nullptr) return FailErrno("open", path);
    Status written = WriteStream(file, path, text);
    if (std::fclose(file) != 0 && written) written = FailErrno("write", path);
    return written;
  }
  if (exists && S_ISLNK(info.st_mode))
    return Fail(ErrorKind::kInvalid,
                fmt::format("cannot write {}: it is a symbolic link; name its target, or remove the link", path));
  if (exists && S_ISDIR(info.st_mode)) return FailErrno("write", path, EISDIR);
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  return ReplaceFile(path, directory / fmt::format(".kepler.{}.tmp", ::getpid()), text);
}

}  // namespace kepler::agent
