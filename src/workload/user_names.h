#pragma once
// UserNames: names of the users of the host, from its /etc/passwd. Users that only a directory service (NSS, LDAP)
// knows have no name, because a request to it may block. Collection thread only.
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.h"
#include "workload/deadline_reader.h"
#include "workload/passwd_file.h"

namespace kepler::workload {

class UserNames {
 public:
  /// `procfs`: host.procfs. `clock` and `limits`: of the reads.
  UserNames(const std::string& procfs, const Clock& clock, const DeadlineReader::Limits& limits = {});

  /// Reads the file if PasswdFile::kPeriod has passed. If it cannot be read, the names stay.
  void Refresh(BootTime now);
  /// Returns the name as a label text; "" if it is unknown. Valid until the next Refresh().
  [[nodiscard]] std::string_view Find(uint32_t uid) const;

 private:
  DeadlineReader reader_;
  PasswdFile file_;
  boost::unordered_flat_map<uint32_t, std::string> names_;
};

}  // namespace kepler::workload
