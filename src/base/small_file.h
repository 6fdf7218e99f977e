#pragma once
// Reads and writes small files, and detects replaced or rewritten files with a stamp.
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler {

/// Reads at most `max` bytes. Errors: as FailErrno; kInvalid for a pipe, which would wait for its writer, and for a
/// larger file.
[[nodiscard]] Result<std::string> ReadSmallFile(const std::string& path, size_t max = size_t{1} << 20);
/// Same as above for a caller that counts bytes. `take` gets the text piece by piece. An error of `take` ends the read
/// and is returned.
[[nodiscard]] Status ReadSmallFile(const std::string& path, size_t max,
                                   const std::function<Status(std::string_view piece)>& take);

/// Returns the only line of `text`, a password or token, without its line end. Blanks are kept. kInvalid for no line or
/// more than one; the error does not quote the text.
[[nodiscard]] Result<std::string> SecretIn(std::string_view text);
/// Reads a file with a password or token. Errors name the file.
[[nodiscard]] Result<std::string> ReadSecretFile(const std::string& path);

/// Result of stat() after following links; all zero if the file does not exist.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  // an older file moved into place has an old mtime but a new ctime
  bool operator==(const FileStamp&) const = default;
};
[[nodiscard]] FileStamp StampOf(const std::string& path);
[[nodiscard]] FileStamp StampOf(const struct stat& info);

/// Writes all of `text` to the open file `fd` on the calling thread. `path` is for the error, which is as of FailErrno.
/// After an error, a part of the text may be written.
[[nodiscard]] Status WriteAll(int fd, std::string_view path, std::string_view text);

/// Replaces the file `path` by one with `text`, which is written under the name `temporary` in the same file system and
/// reaches the disk first. A crash leaves the old file or the new one, which has the mode and, if the process may, the
/// owner of the old one (without its ACL), else mode 0644. A file with the name `temporary` is removed; a link in place
/// of `path` is replaced, not followed. The directory must be writable. Errors: as FailErrno; `path` has not changed.
[[nodiscard]] Status ReplaceFile(const std::string& path, const std::string& temporary, std::string_view text);

}  // namespace kepler
