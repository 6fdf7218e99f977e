#pragma once
// UserNames: names of the users of the host, from its /etc/passwd. Users that only a directory service (NSS, LDAP)
// knows have no name, because a request to it may block. Collection thread only.
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::workload {

class UserNames {
 public:
  /// Minimum time between two checks of the file.
  static constexpr Nanoseconds kPeriod = std::chrono::minutes(1);

  /// `procfs`: host.procfs. The file is 1/root/etc/passwd in it, which needs CAP_SYS_PTRACE. Without that right, it is
  /// the agent's own /etc/passwd if `procfs` is /proc.
  explicit UserNames(const std::string& procfs);

  /// Reads the file if it has changed since the last check. If it cannot be read, the names stay.
  void Refresh(BootTime now);
  /// Returns the name as a label text; "" if it is unknown. Valid until the next Refresh().
  [[nodiscard]] std::string_view Find(uint32_t uid) const;

 private:
  struct Version {
    ino_t inode;
    off_t size;
    int64_t changed;  // ns since the epoch
    bool operator==(const Version&) const = default;
  };
  [[nodiscard]] static std::optional<Version> VersionOf(const std::string& path);
  bool Read(const std::string& path);

  std::vector<std::string> paths_;
  std::string path_;  // file that was read last; "": none
  std::optional<Version> version_;
  bool has_failed_ = false;  // the latest read; it is tried again at the next check
  std::optional<BootTime> checked_;
  boost::unordered_flat_map<uint32_t, std::string> names_;
};

}  // namespace kepler::workload
