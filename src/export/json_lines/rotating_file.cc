#include "export/json_lines/rotating_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/file_place.h"
#include "base/small_file.h"

namespace kepler::json_lines {

namespace {

Status CheckType(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return {};
  return Fail(ErrorKind::kInvalid, path + (S_ISLNK(mode)   ? " is a link; name the file itself"
                                           : S_ISDIR(mode) ? " is a directory; name a file in it"
                                                           : " is not a regular file"));
}

/// Returns the path of the file that is `number` files older than the one at `path`.
std::string Numbered(const std::string& path, unsigned number) {
  return number == 0 ? path : fmt::format("{}.{}", path, number);
}

/// Whether the last line of the file has no end. False for a file that only can be written.
bool EndsWithinLine(const std::string& path, uint64_t size) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  char last = '\n';
  return size > 0 && ::pread(file.get(), &last, 1, static_cast<off_t>(size - 1)) == 1 && last != '\n';
}

}  // namespace

Status CheckPath(const std::string& path, const RotationLimits& limits) {
  if (path.ends_with('/')) return Fail(ErrorKind::kInvalid, path + " ends with a slash; name a file");
  KEPLER_TRY(const auto found, LookAtPlace(path));
  if (found) {
    KEPLER_CHECK_OK(CheckType(path, found->st_mode));
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return FailErrno("write to", path);
  }
  KEPLER_CHECK_OK(LookAtPlace(Numbered(path, limits.max_files - 1)));  // a longer name, made when the file is full
  return {};
}

RotatingFile::RotatingFile(std::string path, RotationLimits limits) : path_(std::move(path)), limits_(limits) {}

Status RotatingFile::Append(std::string_view block) {
  // Somebody else may have moved or removed the file, as logrotate does.
  struct stat opened{};
  struct stat named{};
  if (file_.valid() && (::fstat(file_.get(), &opened) != 0 || ::stat(path_.c_str(), &named) != 0 ||
                        opened.st_ino != named.st_ino || opened.st_dev != named.st_dev))
    file_.Reset();
  if (file_.valid()) size_ = static_cast<uint64_t>(opened.st_size);  // others may have added to it or cut it
  if (!file_.valid()) KEPLER_CHECK_OK(Open());
  if (size_ > 0 && size_ + block.size() > limits_.max_bytes) KEPLER_CHECK_OK(Rotate());
  if (Status written = WriteAll(file_.get(), path_, block); !written) {
    // What was written of the block would be half a line.
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) static_cast<void>(errno);
    file_.Reset();
    return written;
  }
  size_ += block.size();
  return {};
}

Status RotatingFile::Open() {
  UniqueFd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640));
  if (!file.valid()) return FailErrno("open", path_);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return FailErrno("stat", path_);
  KEPLER_CHECK_OK(CheckType(path_, status.st_mode));
  size_ = static_cast<uint64_t>(status.st_size);
  // The writer of the file may have been killed within a line: readers skip that line, but not the next one.
  if (EndsWithinLine(path_, size_)) {
    KEPLER_CHECK_OK(WriteAll(file.get(), path_, "\n"));
    ++size_;
  }
  file_ = std::move(file);
  return {};
}

Status RotatingFile::Rotate() {
  file_.Reset();
  for (unsigned number = limits_.max_files - 1; number > 0; --number)
    if (std::rename(Numbered(path_, number - 1).c_str(), Numbered(path_, number).c_str()) != 0 && errno != ENOENT)
      return FailErrno("rename", Numbered(path_, number - 1));
  if (limits_.max_files == 1 && ::unlink(path_.c_str()) != 0 && errno != ENOENT) return FailErrno("remove", path_);
  return Open();
}

}  // namespace kepler::json_lines
