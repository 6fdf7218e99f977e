#include "os/passwd.h"

#include "base/ids.h"
#include "base/parse.h"

namespace kepler::os {

std::vector<PasswdUser> ParsePasswd(std::string_view text) {
  std::vector<PasswdUser> users;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    Splitter fields(*line, ':');
    const auto name = fields.Next();
    static_cast<void>(fields.Next());  // password
    const auto uid = fields.Next();
    if (!name || !uid || name->empty() || std::string_view("+-#").contains(name->front())) continue;
    const auto number = ParseNumber<uint32_t>(*uid);
    if (number && *number != kUnknownUid) users.push_back({.name = *name, .uid = *number});
  }
  return users;
}

}  // namespace kepler::os
