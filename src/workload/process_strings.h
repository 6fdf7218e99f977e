#pragma once
// The lists of strings that a process shows: /proc/PID/cmdline and environ. One reader per owner, not thread-safe.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::workload {

/// Whether the bytes are the whole file or only its first part, where the last string may be cut.
enum class Extent : bool { kWhole, kPrefix };

/// The NUL-terminated strings of `bytes`, as views into it. The last one needs no NUL in a whole file and is dropped
/// if it has none in a prefix. Trailing empty ones are dropped: they are what a process that wrote its title over its
/// arguments leaves. Reuses `strings`.
void SplitStrings(std::string_view bytes, Extent extent, std::vector<std::string_view>& strings);

/// Reads at most the first `most` bytes, keeping its memory for the next read.
class ProcessStrings {
 public:
  explicit ProcessStrings(size_t most) : most_(most) {}

  /// The strings of `path` below `procfs`, valid until the next call; cut at `most` bytes. Empty for a process without
  /// memory (kernel thread, zombie). Errors: as FailErrno.
  [[nodiscard]] Result<std::span<const std::string_view>> Read(int procfs, const std::string& path);

 private:
  size_t most_;
  std::vector<char> bytes_;
  std::vector<std::string_view> strings_;
};

}  // namespace kepler::workload
