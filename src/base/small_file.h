#pragma once
// Small configuration files: their text, and a stamp that shows when they were replaced or rewritten.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace kepler {

/// At most `max` bytes. Errors: as FailErrno; kInvalid for a pipe, which would wait for its writer, and for more.
[[nodiscard]] Result<std::string> ReadSmallFile(const std::string& path, size_t max = size_t{1} << 20);

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

}  // namespace kepler
