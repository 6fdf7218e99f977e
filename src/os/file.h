#pragma once
// Reading small kernel files: whole, bounded, through a directory fd where many are read per tick.
// Nothing here keeps a descriptor open beyond the call except what OpenDir returns.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/parse.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::os {

/// No file that is read here is larger (/proc/cpuinfo of 1,000 processors has 2 MiB); a longer one is an error, never a
/// silently cut text.
inline constexpr size_t kMaxFileBytes = size_t{8} << 20;

/// Memory for one file at a time, kept between reads: no allocation once it has reached its size.
/// A view handed out by ReadFileAt is valid until the next read into the same buffer.
class ReadBuffer {
 public:
  [[nodiscard]] char* data() { return bytes_.get(); }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  /// At least `bytes` of capacity; keeps what is there.
  void Grow(size_t bytes);

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
};

/// The whole of `path` (relative to `dirfd`; AT_FDCWD for none). Never waits for a FIFO; EINTR is retried.
/// Errors: as FailErrno; kMalformed if it is longer than kMaxFileBytes.
[[nodiscard]] Result<std::string_view> ReadFileAt(int dirfd, const char* path, ReadBuffer& buffer);
/// The same, without asking for the end, for files that give all they have in one read if there is room: those that the
/// kernel makes with single_open() (/proc/PID/stat, cgroup, status; Linux fs/proc/base.c). For thousands at once.
[[nodiscard]] Result<std::string_view> ReadRecordAt(int dirfd, const char* path, ReadBuffer& buffer);

[[nodiscard]] Result<std::string> ReadWholeFile(const std::string& path);

/// The target of a symbolic link, as a view into `buffer`. Errors: as FailErrno.
[[nodiscard]] Result<std::string_view> ReadLinkAt(int dirfd, const char* path, ReadBuffer& buffer);

/// `path` (relative to `dirfd`) with O_RDONLY, O_CLOEXEC and `flags` of open(2).
/// EINTR is retried. Errors: as FailErrno.
[[nodiscard]] Result<UniqueFd> OpenAt(int dirfd, const char* path, int flags);
[[nodiscard]] Result<UniqueFd> OpenDir(const std::string& path);
[[nodiscard]] Result<UniqueFd> OpenDirAt(int dirfd, const char* path);

/// `path` below the directory `root`, for reading. For trees that somebody else may have made: below `root` itself no
/// symbolic link is followed (an absolute one would lead to the reader's own files) and nothing but a regular file is
/// opened (a device may act on it), nor one of procfs, sysfs, tracefs or debugfs. May wait for the file system, which
/// may be one of FUSE. Needs /proc. Errors: as FailErrno; kInvalid for a `path` with an empty part, "." or "..", and
/// where a link or something else than such a file is in the way. All name `root`/`path`.
[[nodiscard]] Result<UniqueFd> OpenFileBeneath(const std::string& root, std::string_view path);

/// The text of an attribute without the white space around it. The view lives in `buffer`.
[[nodiscard]] Result<std::string_view> ReadAttribute(const std::string& path, ReadBuffer& buffer);

/// "read PATH: "text" is not …" with at most 40 bytes of the text, as valid UTF-8.
[[nodiscard]] std::unexpected<Error> FailMalformed(std::string_view path, std::string_view text,
                                                   std::string_view expected);

/// An attribute that is one whole number.
template <class T>
[[nodiscard]] Result<T> ReadNumber(const std::string& path, ReadBuffer& buffer) {
  KEPLER_TRY(const std::string_view text, ReadAttribute(path, buffer));
  if (const auto value = ParseNumber<T>(text)) return *value;
  return FailMalformed(path, text, "a whole number in range");
}

}  // namespace kepler::os
