// Where a model comes from, as a setting or an environment variable has it: refused with a reason, or a path or a URL
// that shows no password.
#include "fuzz.h"
#include "model_store/place.h"

void Fuzz(std::string_view text) {
  const auto place = kepler::model_store::ParsePlace(text);
  if (!place) {
    if (place.error().message.empty()) std::abort();
    return;
  }
  if (place->path.empty() == !place->url || place->shown.empty() || place->Key().empty()) std::abort();
  if (!place->url) {
    if (!place->path.starts_with('/')) std::abort();
    return;
  }
  const auto& target = place->url->target;
  if (!target.starts_with('/') || target.find_first_of(" \r\n#") != target.npos || place->shown.contains('?'))
    std::abort();
  if (place->url->peer.host.empty() || place->url->peer.host.contains('@') || place->url->peer.port == 0) std::abort();
}
