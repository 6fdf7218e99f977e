#include "os/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "base/unique_fd.h"

namespace kepler::os {

namespace {

constexpr size_t kFirstCapacity = 4096;

enum class Text : uint8_t { kPieces, kRecord };  // a record is returned by one read into a large enough buffer

/// Reads to the end. Some failures (ESRCH of an exited process) appear only during a read.
Result<std::string_view> ReadToEnd(int fd, const char* path, ReadBuffer& buffer, Text text, size_t max) {
  if (buffer.capacity() == 0) buffer.Grow(kFirstCapacity);
  size_t used = 0;
  for (;;) {
    if (used == buffer.capacity()) buffer.Grow(used * 2);
    const ssize_t got = ::read(fd, buffer.data() + used, buffer.capacity() - used);
    if (got < 0) {
      if (errno == EINTR) continue;
      return FailErrno("read", path);
    }
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > max) return Fail(ErrorKind::kMalformed, fmt::format("read {}: longer than {} bytes", path, max));
    if (text == Text::kRecord && used < buffer.capacity()) break;
  }
  return std::string_view(buffer.data(), used);
}

/// `shown`: the path in error messages.
Result<UniqueFd> OpenAs(std::string_view shown, int dirfd, const char* path, int flags) {
  int fd = -1;
  do {
    fd = ::openat(dirfd, path, O_RDONLY | O_CLOEXEC | flags);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return FailErrno("open", shown);
  return UniqueFd(fd);
}

Result<std::string_view> OpenAndRead(int dirfd, const char* path, ReadBuffer& buffer, Text text,
                                     size_t max = kMaxFileBytes) {
  KEPLER_TRY(const UniqueFd file, OpenAt(dirfd, path, O_NOCTTY | O_NONBLOCK));
  return ReadToEnd(file.get(), path, buffer, text, max);
}

/// Returns true if the file is on a file system that the kernel generates: a read may have an effect, or wait.
Result<bool> IsOfTheKernel(int fd, std::string_view shown) {
  struct statfs status{};
  if (::fstatfs(fd, &status) != 0) return FailErrno("statfs", shown);
  const auto type = static_cast<unsigned long>(status.f_type);
  return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC || type == TRACEFS_MAGIC || type == DEBUGFS_MAGIC;
}

}  // namespace

Result<UniqueFd> OpenAt(int dirfd, const char* path, int flags) { return OpenAs(path, dirfd, path, flags); }

void ReadBuffer::Grow(size_t bytes) {
  if (bytes <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(bytes);
  if (capacity_ > 0) std::memcpy(larger.get(), bytes_.get(), capacity_);
  bytes_ = std::move(larger);
  capacity_ = bytes;
}

Result<std::string_view> ReadFileAt(int dirfd, const char* path, ReadBuffer& buffer) {
  return OpenAndRead(dirfd, path, buffer, Text::kPieces);
}

Result<std::string_view> ReadRecordAt(int dirfd, const char* path, ReadBuffer& buffer) {
  return OpenAndRead(dirfd, path, buffer, Text::kRecord);
}

Result<std::string> ReadWholeFile(const std::string& path) {
  ReadBuffer buffer;
  KEPLER_TRY(const std::string_view text, ReadFileAt(AT_FDCWD, path.c_str(), buffer));
  return std::string(text);
}

Result<std::string_view> ReadLinkAt(int dirfd, const char* path, ReadBuffer& buffer) {
  if (buffer.capacity() == 0) buffer.Grow(kFirstCapacity);
  for (;;) {
    const ssize_t got = ::readlinkat(dirfd, path, buffer.data(), buffer.capacity());
    if (got < 0) return FailErrno("readlink", path);
    if (static_cast<size_t>(got) < buffer.capacity()) return std::string_view(buffer.data(), static_cast<size_t>(got));
    if (buffer.capacity() > kMaxFileBytes)
      return Fail(ErrorKind::kMalformed, fmt::format("readlink {}: longer than {} bytes", path, kMaxFileBytes));
    buffer.Grow(buffer.capacity() * 2);
  }
}

Result<UniqueFd> OpenDir(const std::string& path) { return OpenDirAt(AT_FDCWD, path.c_str()); }

Result<UniqueFd> OpenDirAt(int dirfd, const char* path) { return OpenAt(dirfd, path, O_DIRECTORY); }

Result<UniqueFd> OpenFileBeneath(const std::string& root, std::string_view path) {
  const std::string whole = fmt::format("{}/{}", root, path);
  const auto refuse = [&](std::string_view part, std::string_view why) {
    return Fail(ErrorKind::kInvalid, fmt::format("open {}: \"{}\" {}", whole, part, why));
  };
  KEPLER_TRY(UniqueFd at, OpenAs(whole, AT_FDCWD, root.c_str(), O_PATH | O_DIRECTORY));
  for (bool last = false; !last;) {
    const auto slash = path.find('/');
    last = slash == std::string_view::npos;
    const std::string part(path.substr(0, slash));
    if (part.empty() || part == "." || part == "..") return refuse(part, "is not a name");
    KEPLER_TRY(at, OpenAs(whole, at.get(), part.c_str(), O_PATH | O_NOFOLLOW));
    struct stat status{};
    if (::fstat(at.get(), &status) != 0) return FailErrno("stat", whole);
    if (last ? !S_ISREG(status.st_mode) : !S_ISDIR(status.st_mode))
      return refuse(part, last ? "is not a file" : "is not a directory");
    path.remove_prefix(last ? path.size() : slash + 1);
  }
  KEPLER_TRY(const bool made_up, IsOfTheKernel(at.get(), whole));
  if (made_up) return Fail(ErrorKind::kInvalid, fmt::format("open {}: it is a file of a kernel file system", whole));
  // Opens exactly the file that was checked.
  return OpenAs(whole, AT_FDCWD, fmt::format("/proc/self/fd/{}", at.get()).c_str(), O_NOCTTY | O_NONBLOCK);
}

Result<std::string_view> ReadAttribute(const std::string& path, ReadBuffer& buffer) {
  KEPLER_TRY(const std::string_view text,
             OpenAndRead(AT_FDCWD, path.c_str(), buffer, Text::kPieces, kMaxAttributeBytes));
  return Trim(text);
}

std::unexpected<Error> FailMalformed(std::string_view path, std::string_view text, std::string_view expected) {
  constexpr size_t kShown = 40;
  const std::string found =
      text.empty() ? "the file is empty" : fmt::format("\"{}\" is not {}", SanitizeUtf8(text, kShown), expected);
  return Fail(ErrorKind::kMalformed, fmt::format("read {}: {}", path, found));
}

}  // namespace kepler::os
