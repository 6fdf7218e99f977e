#pragma once
// Creates the OpenSSL server context of a TlsConfig.
#include <openssl/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/webconfig/web_config.h"

namespace kepler::http::webconfig {

/// PEM text and its origin.
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

/// Returns the time at which the server's certificate expires; nothing if that time cannot be read.
[[nodiscard]] std::optional<WallTime> CertificateExpiry(const SSL_CTX& context);

}  // namespace kepler::http::webconfig
