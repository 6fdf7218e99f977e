#pragma once
// The OpenSSL server context that a TlsConfig stands for.
#include <openssl/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/webconfig/web_config.h"

namespace kepler::http::webconfig {

/// PEM text and where it comes from.
struct Pem {
  std::string text;
  std::string file;   // "": inline
  std::string place;  // of the key in the web file
};
struct Pems {
  Pem cert, key, client_ca;  // the last may be empty
};
/// Reads the files that `config` names. Errors, here and below, name the key and its place in the web file, and the
/// file that it names.
[[nodiscard]] Result<Pems> ReadPems(const TlsConfig& config, const KeyPlaces& places);

/// The context owns all it needs; connections keep it alive through their SSL objects.
[[nodiscard]] Result<std::shared_ptr<SSL_CTX>> MakeTlsContext(const TlsConfig& config, const Pems& pems,
                                                              const KeyPlaces& places);

/// Until when the server's own certificate is valid; nothing where it does not say so in a way that can be read.
[[nodiscard]] std::optional<WallTime> CertificateExpiry(const SSL_CTX& context);

}  // namespace kepler::http::webconfig
