#pragma once
// Peer: a server, how it proves who it is, and how the client proves who it is.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::http::client {

/// Certificates and keys are PEM texts.
struct Peer {
  bool tls = true;
  std::string host;  // a name or an address; IPv6 without brackets
  uint16_t port = 443;
  std::string ca{};           // CA that signed the server's certificate; "": the CAs of the system
  bool verify = true;         // false: the token may reach an impostor
  std::string server_name{};  // name that the server's certificate must have, sent as SNI; "": host
  std::string cert{}, key{};  // of the client; "": none
  bool http2 = false;         // with TLS, the server must choose HTTP/2 by ALPN; Client does not speak it

  /// "host:port", as in the header Host.
  [[nodiscard]] std::string Authority() const;
  /// "https://host:port", for messages.
  [[nodiscard]] std::string Url() const;
  /// The name that the server's certificate must have.
  [[nodiscard]] const std::string& CertificateName() const { return server_name.empty() ? host : server_name; }
  bool operator==(const Peer&) const = default;
};

/// Whether `pem` has certificates, and all of them can be read: what Peer::ca must be.
[[nodiscard]] bool HasCertificates(std::string_view pem);
/// Whether the certificates, the key and the name of `peer` can be used: the errors that Client::Send() has for them.
/// Opens no connection.
[[nodiscard]] Status CheckPeer(const Peer& peer);

}  // namespace kepler::http::client
