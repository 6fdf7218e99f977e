#pragma once
// The lists of strings that a process shows: /proc/PID/cmdline and environ. Not thread-safe.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/deadline_reader.h"

namespace kepler::workload {

/// Whether the bytes are the whole file or only its first part, where the last string may be cut.
enum class Extent : bool { kWhole, kPrefix };

/// The NUL-terminated strings of `bytes`, as views into it. The last one needs no NUL in a whole file and is dropped
/// if it has none in a prefix. Trailing empty ones are dropped: they are what a process that wrote its title over its
/// arguments leaves. Reuses `strings`.
void SplitStrings(std::string_view bytes, Extent extent, std::vector<std::string_view>& strings);

class ProcessStrings {
 public:
  ProcessStrings(const Clock& clock, const DeadlineReader::Limits& limits) : reader_(clock, limits) {}

  void BeginScan() { reader_.BeginScan(); }
  /// The strings of a file, valid until the next call; cut at `max_bytes`. Empty for a process without memory (kernel
  /// thread, zombie). `payer`, errors: as DeadlineReader.
  [[nodiscard]] Result<std::span<const std::string_view>> Read(const std::string& path, const std::string& payer,
                                                               size_t max_bytes);

 private:
  DeadlineReader reader_;
  std::vector<std::string_view> strings_;
};

}  // namespace kepler::workload
