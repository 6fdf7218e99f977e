#pragma once
// PasswdFile: the host's /etc/passwd, read again once a minute. Collection thread only.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "workload/deadline_reader.h"

namespace kepler::workload {

class PasswdFile {
 public:
  /// Time between two reads of the file.
  static constexpr Nanoseconds kPeriod = std::chrono::minutes(1);

  /// `procfs`: host.procfs. The file is 1/root/etc/passwd in it, which needs CAP_SYS_PTRACE. Without that right, it is
  /// the agent's own /etc/passwd if `procfs` is /proc. Users of the agent's image are not users of the host.
  explicit PasswdFile(const std::string& procfs);

  /// Returns the text if it has changed since the last call, at most once per kPeriod. Valid until the next call of
  /// `reader`, which has a deadline, because the root directory of a process may be a file system that hangs. A file
  /// that cannot be read, or has more than 8 MiB, has not changed; such a failure is logged once.
  [[nodiscard]] std::optional<std::string_view> ReadChanged(DeadlineReader& reader, BootTime now);

 private:
  [[nodiscard]] Result<std::string_view> Read(DeadlineReader& reader) const;

  std::vector<std::string> roots_;  // the file is that of the first one that has it
  std::optional<size_t> hash_;      // of the text that was returned last
  bool has_failed_ = false;         // the latest read
  std::optional<BootTime> read_at_;
};

}  // namespace kepler::workload
