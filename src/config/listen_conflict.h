#pragma once
// Whether two addresses to listen on get in each other's way.
#include <string_view>

namespace kepler::config {

/// True where a socket that listens on one of two valid addresses keeps the other from it: the same host and port,
/// however written, or every host on the other's port. Names are not resolved: two for one host pass, and the server
/// refuses the second.
[[nodiscard]] bool ListenConflict(std::string_view a, std::string_view b);

}  // namespace kepler::config
