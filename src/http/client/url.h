#pragma once
// URLs of what is fetched.
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client/peer.h"

namespace kepler::http::client {

struct Url {
  Peer peer;
  std::string target;  // path and query, "/" at least
};

/// "https://host:port/path?query"; the port may be missing, and all behind it. kInvalid for anything else, for a name
/// with a password, and for a fragment ("#…"), which no server sees. The error does not repeat the text, which may hold
/// a secret.
[[nodiscard]] Result<Url> ParseUrl(std::string_view text);

}  // namespace kepler::http::client
