#pragma once
// The OpenSSL server context that a TlsConfig stands for.
#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/server/web_config.h"

namespace kepler::http {

/// Reads the files that `config` names. Errors name the file, or `path` (the web file) for what stands inline.
/// The context owns all it needs; connections keep it alive through their SSL objects.
[[nodiscard]] Result<std::shared_ptr<SSL_CTX>> MakeTlsContext(const TlsConfig& config, const std::string& path);

/// DNS names, e-mail addresses, IP addresses and URIs of a certificate, as text.
[[nodiscard]] std::vector<std::string> SubjectAlternativeNames(X509* certificate);

}  // namespace kepler::http
