#pragma once
// Users in the text of /etc/passwd (passwd(5)). NSS is not used: it may wait for a network. Pure.
#include <cstdint>
#include <string_view>
#include <vector>

namespace kepler::os {

struct PasswdUser {
  std::string_view name;  // any bytes but ':' and line feed; not empty
  uint32_t uid = 0;
  bool operator==(const PasswdUser&) const = default;
};

/// Returns the users in the order of the lines. Comments, NIS entries ("+", "-") and malformed lines are left out. The
/// names are views into the text. A uid may occur twice: getpwuid(3) uses the first line.
[[nodiscard]] std::vector<PasswdUser> ParsePasswd(std::string_view text);

}  // namespace kepler::os
