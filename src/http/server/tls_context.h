#pragma once
// The OpenSSL server context that a TlsConfig stands for.
#include <openssl/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/server/web_config.h"

namespace kepler::http {

/// PEM text and the file where it stands.
struct Pem {
  std::string text;
  std::string origin;
};
struct Pems {
  Pem cert, key, client_ca;  // the last may be empty
};
/// Reads the files that `config` names; what stands inline comes from `path`, the web file.
[[nodiscard]] Result<Pems> ReadPems(const TlsConfig& config, const std::string& path);

/// Errors name the file. The context owns all it needs; connections keep it alive through their SSL objects.
[[nodiscard]] Result<std::shared_ptr<SSL_CTX>> MakeTlsContext(const TlsConfig& config, const Pems& pems,
                                                              const std::string& path);

/// Until when the server's own certificate is valid; nothing where it does not say so in a way that can be read.
[[nodiscard]] std::optional<WallTime> CertificateExpiry(const SSL_CTX& context);

/// DNS names, e-mail addresses, IP addresses and URIs of a certificate, as text.
[[nodiscard]] std::vector<std::string> SubjectAlternativeNames(X509* certificate);

}  // namespace kepler::http
