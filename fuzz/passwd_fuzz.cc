// Text of /etc/passwd: each user has a name and a valid uid, and the name is a part of the text.
#include "fuzz.h"
#include "os/passwd.h"

void Fuzz(std::string_view text) {
  const char* at = text.data();
  for (const auto& user : kepler::os::ParsePasswd(text)) {
    if (user.name.empty() || user.uid == UINT32_MAX || user.name.data() < at) std::abort();
    if (user.name.contains(':') || user.name.contains('\n')) std::abort();
    at = user.name.data() + user.name.size();
    if (at > text.data() + text.size()) std::abort();
  }
}
