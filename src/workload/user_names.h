#pragma once
// UserNames: names of the users of the host, from its /etc/passwd. Users that only a directory service (NSS, LDAP)
// knows have no name, because a request to it may block. Collection thread only.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.h"
#include "base/units.h"
#include "workload/deadline_reader.h"

namespace kepler::workload {

class UserNames {
 public:
  /// Time between two reads of the file.
  static constexpr Nanoseconds kPeriod = std::chrono::minutes(1);

  /// `procfs`: host.procfs. The file is 1/root/etc/passwd in it, which needs CAP_SYS_PTRACE. Without that right, it is
  /// the agent's own /etc/passwd if `procfs` is /proc. `clock` and `limits`: of the reads, because the root directory
  /// of a process may be a file system that hangs.
  UserNames(const std::string& procfs, const Clock& clock, const DeadlineReader::Limits& limits = {});

  /// Reads the file if kPeriod has passed. If it cannot be read, the names stay.
  void Refresh(BootTime now);
  /// Returns the name as a label text; "" if it is unknown. Valid until the next Refresh().
  [[nodiscard]] std::string_view Find(uint32_t uid) const;

 private:
  bool Read(const std::string& root);
  void Parse(std::string_view text);

  DeadlineReader reader_;
  std::vector<std::string> roots_;
  size_t hash_ = 0;          // of the text that was parsed last
  bool has_failed_ = false;  // the latest read
  std::optional<BootTime> read_at_;
  boost::unordered_flat_map<uint32_t, std::string> names_;
};

}  // namespace kepler::workload
