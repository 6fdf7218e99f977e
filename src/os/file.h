#pragma once
// Reads small kernel files: whole, bounded, and relative to a directory descriptor for many reads per tick. No function
// keeps a descriptor open after the call, except OpenDir, which returns one.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/parse.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::os {

/// Maximum file size. No expected file is larger (/proc/cpuinfo of 1,000 processors has 2 MiB). A larger file is an
/// error; its text is never silently cut.
inline constexpr size_t kMaxFileBytes = size_t{8} << 20;
/// Maximum size of an attribute: sysfs gives one page (Documentation/filesystems/sysfs.rst), at most 64 KiB on arm64.
inline constexpr size_t kMaxAttributeBytes = size_t{64} << 10;

/// Memory for one file at a time, kept between reads: no allocation once the buffer has its size. A view from
/// ReadFileAt is valid until the next read into the same buffer.
class ReadBuffer {
 public:
  [[nodiscard]] char* data() { return bytes_.get(); }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  /// Provides at least `bytes` of capacity and keeps the content.
  void Grow(size_t bytes);

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
};

/// Reads the whole of `path` (relative to `dirfd`, or AT_FDCWD). Never waits for a FIFO; EINTR is retried. Errors: as
/// FailErrno; kMalformed if the file is longer than kMaxFileBytes.
[[nodiscard]] Result<std::string_view> ReadFileAt(int dirfd, const char* path, ReadBuffer& buffer);
/// Same as above, but without a second read at the end of the file. Only for files that return everything in one read
/// if the buffer is large enough: files that the kernel creates with single_open() (/proc/PID/stat, cgroup, status;
/// Linux fs/proc/base.c). Saves time when thousands of files are read.
[[nodiscard]] Result<std::string_view> ReadRecordAt(int dirfd, const char* path, ReadBuffer& buffer);

[[nodiscard]] Result<std::string> ReadWholeFile(const std::string& path);

/// Returns the target of a symbolic link, as a view into `buffer`. Errors: as FailErrno.
[[nodiscard]] Result<std::string_view> ReadLinkAt(int dirfd, const char* path, ReadBuffer& buffer);

/// Opens `path` (relative to `dirfd`) with O_RDONLY, O_CLOEXEC and `flags` of open(2). EINTR is retried. Errors: as
/// FailErrno.
[[nodiscard]] Result<UniqueFd> OpenAt(int dirfd, const char* path, int flags);
[[nodiscard]] Result<UniqueFd> OpenDir(const std::string& path);
[[nodiscard]] Result<UniqueFd> OpenDirAt(int dirfd, const char* path);

/// Opens `path` below the directory `root` for reading. Use it for directory trees that another user may control. Below
/// `root` no symbolic link is followed, because an absolute link would lead to the reader's own files. Only regular
/// files are opened, because opening a device may have an effect. Files of procfs, sysfs, tracefs or debugfs are
/// refused. The call may wait for the file system, which may be FUSE. Needs /proc. Errors: as FailErrno. kInvalid for a
/// `path` with an empty part, "." or "..", for a link in the path, and for any other kind of file. All errors contain
/// `root`/`path`.
[[nodiscard]] Result<UniqueFd> OpenFileBeneath(const std::string& root, std::string_view path);

/// Returns the text of an attribute without surrounding white space. The view lives in `buffer`. Errors: as FailErrno;
/// kMalformed if the file is longer than kMaxAttributeBytes.
[[nodiscard]] Result<std::string_view> ReadAttribute(const std::string& path, ReadBuffer& buffer);

/// Returns the error "read PATH: "text" is not …" with at most 40 bytes of the text, as valid UTF-8. An
/// empty text is called an empty file.
[[nodiscard]] std::unexpected<Error> FailMalformed(std::string_view path, std::string_view text,
                                                   std::string_view expected);

/// Reads an attribute that consists of one number.
template <class T>
[[nodiscard]] Result<T> ReadNumber(const std::string& path, ReadBuffer& buffer) {
  KEPLER_TRY(const std::string_view text, ReadAttribute(path, buffer));
  if (const auto value = ParseNumber<T>(text)) return *value;
  return FailMalformed(path, text, "a whole number in range");
}

}  // namespace kepler::os
