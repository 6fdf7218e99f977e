#pragma once
// Small files: their text, a stamp that shows when they were replaced or rewritten, and how a text is written.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler {

/// At most `max` bytes. Errors: as FailErrno; kInvalid for a pipe, which would wait for its writer, and for more.
[[nodiscard]] Result<std::string> ReadSmallFile(const std::string& path, size_t max = size_t{1} << 20);
/// The same for who counts what comes: `take` gets it piece by piece, and its error ends the reading and is the answer.
[[nodiscard]] Status ReadSmallFile(const std::string& path, size_t max,
                                   const std::function<Status(std::string_view piece)>& take);

/// What stat() says after following links; all zero where there is no such file.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  // an older file moved into place has an old mtime but a new ctime
  bool operator==(const FileStamp&) const = default;
};
[[nodiscard]] FileStamp StampOf(const std::string& path);

/// All of `text` to the open file `fd`, of any size, on the caller's thread. `path` is for the error, which is as of
/// FailErrno; a part of the text may be written then.
[[nodiscard]] Status WriteAll(int fd, std::string_view path, std::string_view text);

}  // namespace kepler
