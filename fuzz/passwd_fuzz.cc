// Text of /etc/passwd: each user has a name and a valid uid, and the name is a part of the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "os/passwd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const char* at = text.data();
  for (const auto& user : kepler::os::ParsePasswd(text)) {
    if (user.name.empty() || user.uid == UINT32_MAX || user.name.data() < at) std::abort();
    if (user.name.contains(':') || user.name.contains('\n')) std::abort();
    at = user.name.data() + user.name.size();
    if (at > text.data() + size) std::abort();
  }
  return 0;
}
