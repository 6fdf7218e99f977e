// Where a model comes from, as a setting or an environment variable has it: refused with a reason, or a path or a URL
// that shows no password.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model_store/place.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto place = kepler::model_store::ParsePlace({reinterpret_cast<const char*>(data), size});
  if (!place) {
    if (place.error().message.empty()) std::abort();
    return 0;
  }
  if (place->path.empty() == !place->url || place->shown.empty() || place->Key().empty()) std::abort();
  if (!place->url) {
    if (!place->path.starts_with('/')) std::abort();
    return 0;
  }
  const auto& target = place->url->target;
  if (!target.starts_with('/') || target.find_first_of(" \r\n#") != target.npos || place->shown.contains('?'))
    std::abort();
  if (place->url->peer.host.empty() || place->url->peer.host.contains('@') || place->url->peer.port == 0) std::abort();
  return 0;
}
