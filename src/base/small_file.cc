#include "base/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/parse.h"
#include "base/unique_fd.h"

namespace kepler {
namespace {

int64_t NanosecondsOf(const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

/// Gives the open file `fd` the owner, if the process may, and the mode of the file that it replaces.
Status TakeAccess(int fd, const std::string& path, const struct stat& old) {
  mode_t mode = old.st_mode & 0777;
  // A group that cannot be kept must not give its rights to the group of this process.
  if (::fchown(fd, old.st_uid, old.st_gid) != 0) mode &= ~mode_t{070} | (mode & 07) << 3;
  return ::fchmod(fd, mode) == 0 ? Status() : FailErrno("write", path);
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path, size_t max) {
  std::string text;
  const auto take = [&text](std::string_view piece) -> Status {
    text += piece;
    return {};
  };
  KEPLER_CHECK_OK(ReadSmallFile(path, max, take));
  return text;
}

Status ReadSmallFile(const std::string& path, size_t max, const std::function<Status(std::string_view piece)>& take) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return FailErrno("open", path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return FailErrno("stat", path);
  if (S_ISFIFO(info.st_mode))
    return Fail(ErrorKind::kInvalid, "read " + path + ": it is a pipe and cannot be read again; use a regular file");
  size_t received = 0;
  char chunk[4096];
  while (true) {
    const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno("read", path);
    if (n == 0) return {};
    received += static_cast<size_t>(n);
    if (received > max) {
      const std::string limit = max < 1 << 20 ? std::to_string(max >> 10) + " KiB" : std::to_string(max >> 20) + " MiB";
      return Fail(ErrorKind::kInvalid, "read " + path + ": larger than " + limit);
    }
    KEPLER_CHECK_OK(take({chunk, static_cast<size_t>(n)}));
  }
}

Result<std::string> SecretIn(std::string_view text) {
  const std::string_view line = WithoutLineEnd(text);
  if (Trim(line).empty()) return Fail(ErrorKind::kInvalid, "contains no password or token");
  if (line.find_first_of("\r\n") != std::string_view::npos)
    return Fail(ErrorKind::kInvalid, "contains more than one line; the password or token must be the only one");
  return std::string(line);
}

Result<std::string> ReadSecretFile(const std::string& path) {
  KEPLER_TRY(const std::string text, ReadSmallFile(path));
  auto secret = SecretIn(text);
  return secret ? secret : Fail(secret.error().kind, path + ": " + secret.error().message);
}

FileStamp StampOf(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? StampOf(info) : FileStamp{};
}

FileStamp StampOf(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = info.st_size,
          .modified_ns = NanosecondsOf(info.st_mtim),
          .changed_ns = NanosecondsOf(info.st_ctim)};
}

Status WriteAll(int fd, std::string_view path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return FailErrno("write", path);
    text.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

Status ReplaceFile(const std::string& path, const std::string& temporary, std::string_view text) {
  ::unlink(temporary.c_str());  // of a killed process, or a pipe, which would keep open() waiting
  struct stat old{};
  const bool replaces = ::lstat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode);
  const UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0644));
  if (!file.valid()) return FailErrno("write", path);
  Status written = replaces ? TakeAccess(file.get(), path, old) : Status();
  if (written) written = WriteAll(file.get(), path, text);
  if (written && ::fsync(file.get()) != 0) written = FailErrno("write", path);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = FailErrno("write", path);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace kepler
