#pragma once
// RotatingFile: a file that blocks are added to. When it is full, it becomes PATH.1, the previous one PATH.2, and so
// on. A block is in the file as a whole or not at all, also when the disk is full. Blocks; one thread.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::json_lines {

struct RotationLimits {
  uint64_t max_bytes = uint64_t{100} << 20;  // of one file
  unsigned max_files = 5;                    // with the one that is written to; at least 1
};

/// Whether a RotatingFile can write to `path`. Creates nothing. Errors: kInvalid for a path that no wait will repair:
/// relative, too long, a directory, a link, a device. Others, such as a missing directory, may end while the agent
/// runs.
[[nodiscard]] Status CheckPath(const std::string& path, const RotationLimits& limits);

class RotatingFile {
 public:
  RotatingFile(std::string path, RotationLimits limits);

  /// Opens the file if it is not open, ends a line that a crash cut, moves full files, and adds `block`. After an error
  /// the file ends with the previous block, and the next call opens it again. Nothing waits for the disk (no fsync): a
  /// power failure may lose the latest blocks. Errors: as FailErrno.
  [[nodiscard]] Status Append(std::string_view block);

 private:
  [[nodiscard]] Status Open();
  [[nodiscard]] Status Rotate();

  const std::string path_;
  const RotationLimits limits_;
  UniqueFd file_;
  uint64_t size_ = 0;
};

}  // namespace kepler::json_lines
