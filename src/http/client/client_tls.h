#pragma once
// The TLS context of a client. For this room and http/grpc.
#include <memory>
#include <string>

#include "base/result.h"
#include "http/client/peer.h"

namespace boost::asio::ssl {
class context;  // NOLINT(readability-identifier-naming): the name is of Boost
}

namespace kepler::http::client {

using TlsContext = boost::asio::ssl::context;

/// A context with the certificates of `peer`; null without TLS. kInvalid: a certificate or key cannot be read.
[[nodiscard]] Result<std::shared_ptr<TlsContext>> MakeTlsContext(const Peer& peer);
/// Whether `host` is an IP address, which certificates name in another way and SNI does not allow.
[[nodiscard]] bool IsAddress(const std::string& host);

}  // namespace kepler::http::client
