#include "http/client/peer.h"

#include <fmt/format.h>

namespace kepler::http::client {

std::string Peer::Authority() const { return fmt::format("{}:{}", host.contains(':') ? '[' + host + ']' : host, port); }

std::string Peer::Url() const { return (tls ? "https://" : "http://") + Authority(); }

}  // namespace kepler::http::client
